import { Alert, Box, Button, type ButtonProps } from '@cloudscape-design/components';
import { ServiceProblem } from 'computation-management-client';
import { machineHelp } from 'computation-management-words';
import type { ReactNode } from 'react';
import { useFrame } from '../access/index.ts';
import { MachineHelp } from '../attestation/machine-help.tsx';
import { Bullets, Hash, StatusIndicator } from '../show/index.ts';
import { listAbove } from '../routing/index.ts';
import { problemText } from './problem-text.ts';
import { useAction } from './use-action.ts';
import type { Loaded } from './use-loaded.ts';

interface Props {
  /** The error to show. Nothing is shown if the error is undefined. */
  problem: unknown;
  /** The places in the request whose errors are shown at fields of a form, such as `/name`. */
  fields?: readonly string[] | undefined;
  retry?: (() => void) | undefined;
  isRetrying?: boolean;
}

/** Shows an error, with a way to try again, or to sign in again if the sign-in has expired. */
export function ProblemAlert({ problem, fields, retry, isRetrying = false }: Props) {
  if (problem === undefined) return null;
  const { title, detail, advice, points, requestId } = problemText(problem, fields);
  const list = problem instanceof ServiceProblem && problem.code === 'not_found' ? listAbove(location.pathname) : undefined;
  const hasExpired = problem instanceof ServiceProblem && problem.code === 'unauthenticated';
  return (
    <div role="alert">
      <Alert
        type="error"
        header={title}
        action={
          hasExpired ? (
            <SignInAgain />
          ) : list ? (
            <Button href={list.href}>{list.text}</Button>
          ) : (
            retry && (
              <Button formAction="none" onClick={retry} loading={isRetrying}>
                Retry
              </Button>
            )
          )
        }
      >
        {detail}
        {points.length > 0 && <Bullets of={points} />}
        {advice !== undefined && <div>{advice}</div>}
        {machineHelp([detail, ...points].join(' ')) !== '' && <MachineHelp />}
        {requestId !== undefined && (
          <Box variant="small" display="block">
            Request identifier: <Hash value={requestId} what="identifier of the request" />
          </Box>
        )}
      </Alert>
    </div>
  );
}

/** Shows a button that does something. If that failed, shows why beside it. */
export function ActionButton({ act, ...button }: Pick<ButtonProps, 'iconName' | 'children'> & { act: () => Promise<void> }) {
  const action = useAction(act);
  return (
    <>
      <Button formAction="none" loading={action.isRunning} onClick={() => void action.run()} {...button} />
      <ProblemAlert problem={action.problem} />
    </>
  );
}

/** Shows a button to sign in again for users whose sign-in has expired. Says why, if the button does not lead to the sign-in page. */
export function SignInAgain() {
  const { signInAgain } = useFrame();
  const leave = useAction(signInAgain);
  return (
    <>
      <Button formAction="none" loading={leave.isRunning} onClick={() => void leave.run()}>
        Sign in again
      </Button>
      {leave.problem !== undefined && <Box color="inherit">{problemText(leave.problem).detail}</Box>}
    </>
  );
}

interface ReadAgainProps {
  /** The error of a change. Nothing is shown unless the error says that someone else has changed the resource meanwhile. */
  problem: unknown;
  readAgain: () => void;
  /** The name of the resource. */
  name: string;
  /** The word for the change that was not made. Default: `saved`, so that reading again drops what was typed. */
  undone?: string;
}

/** Shows an offer to read again a resource that someone else has changed since it was shown. */
export function ReadAgain({ problem, readAgain, name, undone = 'saved' }: ReadAgainProps) {
  if (!(problem instanceof ServiceProblem) || problem.code !== 'precondition_failed') return null;
  return (
    <Alert
      type="warning"
      action={
        <Button formAction="none" onClick={readAgain}>
          Read it again
        </Button>
      }
    >
      Nothing was {undone}. Reading <bdi>{name}</bdi> again shows the changes of others
      {undone === 'saved' && ', and drops yours'}.
    </Alert>
  );
}

/** Shows in place of a value or a screen that it is loading. */
export function Loading({ children }: { children: ReactNode }) {
  return (
    <Box padding="l" textAlign="center">
      <StatusIndicator type="loading">{children}</StatusIndicator>
    </Box>
  );
}

interface LoadedViewProps<Value> {
  loaded: Loaded<Value>;
  /** The words for the value that is loaded, such as `the computation`. */
  what: string;
  children: (value: Value) => ReactNode;
}

/** Shows a value once it is loaded. If loading the value again fails, shows the error above the earlier value. */
export function LoadedView<Value>({ loaded, what, children }: LoadedViewProps<Value>) {
  const { value, problem, isLoading, reload } = loaded;
  if (value === undefined && problem === undefined) return <Loading>Loading {what}</Loading>;
  // One tree with and without a problem: what the user has opened in the children stays open when loading again fails.
  return (
    <div className="stack">
      <ProblemAlert problem={problem} retry={reload} isRetrying={isLoading} />
      {value === undefined ? null : children(value)}
    </div>
  );
}
