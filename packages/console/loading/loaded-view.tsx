import Box from '@cloudscape-design/components/box';
import type { ReactNode } from 'react';
import { StatusIndicator } from '../show/status-indicator.tsx';
import { ProblemAlert } from './problem-alert.tsx';
import type { Loaded } from './use-loaded.ts';

interface Props<Value> {
  loaded: Loaded<Value>;
  /** What is loaded, such as `the computation`. */
  what: string;
  children: (value: Value) => ReactNode;
}

/** Shows a value once it is there. A later failure is shown above the value that was there before. */
export function LoadedView<Value>({ loaded, what, children }: Props<Value>) {
  const { value, problem, isLoading, reload } = loaded;
  if (value === undefined && problem === undefined) {
    return (
      <Box padding="l" textAlign="center">
        <StatusIndicator type="loading">Loading {what}</StatusIndicator>
      </Box>
    );
  }
  // One tree with and without a problem: what the user has opened in the children stays open when loading again fails.
  return (
    <div className="stack">
      <ProblemAlert problem={problem} retry={reload} isRetrying={isLoading} />
      {value === undefined ? null : children(value)}
    </div>
  );
}
