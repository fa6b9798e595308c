import { Alert, Box, Button } from '@cloudscape-design/components';
import { Component, type ComponentType, lazy, type LazyExoticComponent, type ReactNode, Suspense } from 'react';
import { ComputationsScreen } from '../computations/computations-screen.tsx';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import type { Place } from '../routing/places.ts';
import { StatusIndicator } from '../show/status.tsx';
import { readConfiguration } from '../sign-in/session.ts';

/** Returns the component of a screen whose script file is loaded when the screen is first shown. */
function ofItsOwn<Props>(load: () => Promise<ComponentType<Props>>): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (cause) {
      throw new ScreenNotLoaded({ cause });
    }
  });
}

// The list of computations is where most visits begin. Every other screen is loaded when it is first opened.
const screens: { [S in Place['screen']]: ComponentType<Extract<Place, { screen: S }>> } = {
  home: () => null,
  todo: ofItsOwn(async () => (await import('../todo/todo-screen.tsx')).TodoScreen),
  computations: ComputationsScreen,
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
      <Suspense fallback={<Opening />}>
        <Screen {...place} />
      </Suspense>
    </ScreenErrors>
  );
}

function Opening() {
  return (
    <Box padding="l" textAlign="center">
      <StatusIndicator type="loading">Opening</StatusIndicator>
    </Box>
  );
}

/** The error of a screen whose script file could not be loaded. */
class ScreenNotLoaded extends Error {
  constructor(options: ErrorOptions) {
    super('The screen could not be loaded.', options);
  }
}

interface State {
  error?: unknown;
}

/** Shows a screen, or why the screen failed instead of an empty page. */
class ScreenErrors extends Component<{ children: ReactNode }, State> {
  override state: State = {};

  static getDerivedStateFromError(error: unknown): State {
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
  const retry = () => void reload.run();
  return (
    <ScreenFrame title="Screen not loaded" above={[]}>
      {error instanceof ScreenNotLoaded ? (
        <div role="alert">
          <Alert
            type="error"
            header="This screen could not be loaded"
            action={
              <Button loading={reload.isRunning} onClick={retry}>
                Retry
              </Button>
            }
          >
            {reload.problem === undefined
              ? 'The service does not answer, or there is a new version of the console.'
              : 'The service does not answer. Check your connection, then try again.'}
          </Alert>
        </div>
      ) : (
        <ProblemAlert problem={reload.problem ?? error} retry={retry} isRetrying={reload.isRunning} />
      )}
    </ScreenFrame>
  );
}
