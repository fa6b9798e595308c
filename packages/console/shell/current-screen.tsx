import Alert from '@cloudscape-design/components/alert';
import Box from '@cloudscape-design/components/box';
import Button from '@cloudscape-design/components/button';
import { Component, type ComponentType, lazy, type LazyExoticComponent, type ReactNode, Suspense } from 'react';
import { ComputationsScreen } from '../computations/computations-screen.tsx';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import type { Place } from '../routing/places.ts';
import { StatusIndicator } from '../show/status.tsx';
import { readConfiguration } from '../sign-in/configuration.ts';

// The list of computations is where most visits begin. Every other screen is loaded when it is first opened.
const TodoScreen = ofItsOwn(async () => (await import('../todo/todo-screen.tsx')).TodoScreen);
const NewComputationScreen = ofItsOwn(
  async () => (await import('../computations/edit-computation-screen.tsx')).NewComputationScreen,
);
const ComputationScreen = ofItsOwn(async () => (await import('../computations/computation-screen.tsx')).ComputationScreen);
const ApproveScreen = ofItsOwn(async () => (await import('../approvals/approve-screen.tsx')).ApproveScreen);
const EditComputationScreen = ofItsOwn(
  async () => (await import('../computations/edit-computation-screen.tsx')).EditComputationScreen,
);
const RunScreen = ofItsOwn(async () => (await import('../runs/run-screen.tsx')).RunScreen);
const RunsScreen = ofItsOwn(async () => (await import('../runs/runs-table.tsx')).RunsScreen);
const AssetsScreen = ofItsOwn(async () => (await import('../assets/assets-screen.tsx')).AssetsScreen);
const NewAssetScreen = ofItsOwn(async () => (await import('../assets/new-asset-screen.tsx')).NewAssetScreen);
const AssetScreen = ofItsOwn(async () => (await import('../assets/asset-screen.tsx')).AssetScreen);
const CvmsScreen = ofItsOwn(async () => (await import('../cvms/cvms-screen.tsx')).CvmsScreen);
const CvmScreen = ofItsOwn(async () => (await import('../cvms/cvm-screen.tsx')).CvmScreen);
const StatisticsScreen = ofItsOwn(async () => (await import('../statistics/statistics-screen.tsx')).StatisticsScreen);

/** A screen with a file of its own. */
function ofItsOwn<Props>(load: () => Promise<ComponentType<Props>>): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (cause) {
      throw new ScreenNotLoaded({ cause });
    }
  });
}

/** The screen of a place. An error in it leaves the navigation usable. */
export function CurrentScreen({ place }: { place: Place }) {
  return (
    <ScreenErrors>
      <Suspense fallback={<Opening />}>{screenOf(place)}</Suspense>
    </ScreenErrors>
  );
}

function screenOf(place: Place): ReactNode {
  switch (place.screen) {
    case 'home':
      return null;
    case 'todo':
      return <TodoScreen />;
    case 'computations':
      return <ComputationsScreen />;
    case 'new-computation':
      return <NewComputationScreen />;
    case 'computation':
      return <ComputationScreen id={place.id} key={place.id} />;
    case 'approve':
      return <ApproveScreen id={place.id} key={place.id} />;
    case 'edit-computation':
      return <EditComputationScreen id={place.id} key={place.id} />;
    case 'run':
      return <RunScreen id={place.id} run={place.run} key={place.run} />;
    case 'runs':
      return <RunsScreen />;
    case 'assets':
      return <AssetsScreen />;
    case 'new-asset':
      return <NewAssetScreen />;
    case 'asset':
      return <AssetScreen id={place.id} key={place.id} />;
    case 'cvms':
      return <CvmsScreen />;
    case 'cvm':
      return <CvmScreen cvm={place.cvm} key={place.cvm} />;
    case 'statistics':
      return <StatisticsScreen />;
  }
}

function Opening() {
  return (
    <Box padding="l" textAlign="center">
      <StatusIndicator type="loading">Opening</StatusIndicator>
    </Box>
  );
}

/** The file of a screen did not come. */
class ScreenNotLoaded extends Error {
  constructor(options: ErrorOptions) {
    super('The screen could not be loaded.', options);
  }
}

interface State {
  error?: unknown;
}

/** Shows why a screen failed instead of an empty page. */
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
