import Alert from '@cloudscape-design/components/alert';
import Button from '@cloudscape-design/components/button';
import { Component, type ReactNode } from 'react';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { readConfiguration } from '../sign-in/configuration.ts';
import { ScreenFrame } from './screen-frame.tsx';

/** The file of a screen did not come. */
export class ScreenNotLoaded extends Error {
  constructor(options: ErrorOptions) {
    super('The screen could not be loaded.', options);
  }
}

interface State {
  error?: unknown;
}

/** Shows why a screen failed instead of an empty page. */
export class ScreenErrors extends Component<{ children: ReactNode }, State> {
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
