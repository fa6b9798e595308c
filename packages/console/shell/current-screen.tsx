import { Component, type ComponentType, lazy, type LazyExoticComponent, type ReactNode, Suspense } from 'react';
import { ScreenFrame } from '../frame/index.ts';
import { Loading, ProblemAlert, useAction } from '../loading/index.ts';
import type { Place } from '../routing/index.ts';
import { readConfiguration } from '../sign-in/session.ts';
import { TodoScreen } from '../todo/todo-screen.tsx';

/** Returns the component of a screen whose script file is loaded when the screen is first shown. */
function ofItsOwn<Props>(load: () => Promise<ComponentType<Props>>): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (cause) {
      const why = 'the service does not answer, or there is a new version of the console.';
      throw new Error(`This screen could not be loaded: ${why}`, { cause });
    }
  });
}

// To do is where most visits begin. Every other screen is loaded when it is first opened.
const screens: { [S in Place['screen']]: ComponentType<Extract<Place, { screen: S }>> } = {
  home: () => null,
  todo: TodoScreen,
  computations: ofItsOwn(async () => (await import('../computations/computations-screen.tsx')).ComputationsScreen),
  'new-computation': ofItsOwn(async () => (await import('../computations/edit-computation-screen.tsx')).NewComputationScreen),
  computation: ofItsOwn(async () => (await import('../computations/computation-screen.tsx')).ComputationScreen),
  approve: ofItsOwn(async () => (await import('../approvals/approve-screen.tsx')).ApproveScreen),
  'edit-computation': ofItsOwn(async () => (await import('../computations/edit-computation-screen.tsx')).EditComputationScreen),
  run: ofItsOwn(async () => (await import('../runs/run-screen.tsx')).RunScreen),
  'verify-run': ofItsOwn(async () => (await import('../evidence/verify-screens.tsx')).VerifyRunScreen),
  verify: ofItsOwn(async () => (await import('../evidence/verify-screens.tsx')).VerifyScreen),
  runs: ofItsOwn(async () => (await import('../runs/runs-table.tsx')).RunsScreen),
  assets: ofItsOwn(async () => (await import('../assets/assets-screen.tsx')).AssetsScreen),
  'new-asset': ofItsOwn(async () => (await import('../assets/new-asset-screen.tsx')).NewAssetScreen),
  asset: ofItsOwn(async () => (await import('../assets/asset-screen.tsx')).AssetScreen),
  cvms: ofItsOwn(async () => (await import('../cvms/cvms-screen.tsx')).CvmsScreen),
  cvm: ofItsOwn(async () => (await import('../cvms/cvms-screen.tsx')).CvmScreen),
  statistics: ofItsOwn(async () => (await import('../statistics/statistics-screen.tsx')).StatisticsScreen),
};

/** Shows the screen of a place of the console. An error in the screen leaves the navigation usable. */
export function CurrentScreen({ place }: { place: Place }) {
  const Screen = screens[place.screen] as ComponentType<Place>;
  return (
    <ScreenErrors>
      <Suspense fallback={<Loading>Opening</Loading>}>
        <Screen {...place} />
      </Suspense>
    </ScreenErrors>
  );
}

/** Shows a screen, or why the screen failed instead of an empty page. */
class ScreenErrors extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error === undefined ? this.props.children : <FailedScreen error={error} />;
  }
}

function FailedScreen({ error }: { error: unknown }) {
  // A new version of the console has other files: only a reload finds them. Without an answer, it would end at an empty page.
  const reload = useAction(async () => {
    await readConfiguration();
    location.reload();
  });
  return (
    <ScreenFrame title="Screen not loaded" above={[]}>
      <ProblemAlert problem={reload.problem ?? error} retry={() => void reload.run()} isRetrying={reload.isRunning} />
    </ScreenFrame>
  );
}
