import Alert from '@cloudscape-design/components/alert';
import Box from '@cloudscape-design/components/box';
import Button from '@cloudscape-design/components/button';
import { ServiceProblem } from 'computation-management-client';
import { SignInAgain } from '../shell/sign-in-again.tsx';
import { Hash } from '../show/hash.tsx';
import { problemText } from './problem-text.ts';

interface Props {
  /** Nothing is shown if it is undefined. */
  problem: unknown;
  /** The places in the request whose errors are shown at fields, such as `/name`. */
  fields?: readonly string[] | undefined;
  retry?: (() => void) | undefined;
  isRetrying?: boolean;
}

/** What went wrong, with a way to try again, or to sign in again if the sign-in has expired. */
export function ProblemAlert({ problem, fields, retry, isRetrying = false }: Props) {
  if (problem === undefined) return null;
  const { title, detail, advice, points, requestId } = problemText(problem, fields);
  const hasExpired = problem instanceof ServiceProblem && problem.code === 'unauthenticated';
  return (
    <div role="alert">
      <Alert
        type="error"
        header={title}
        action={
          hasExpired ? (
            <SignInAgain />
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
        {points.length > 0 && (
          <ul>
            {points.map((point) => (
              <li key={point}>{point}</li>
            ))}
          </ul>
        )}
        {advice !== undefined && <div>{advice}</div>}
        {requestId !== undefined && (
          <Box variant="small" display="block">
            Request identifier: <Hash value={requestId} what="identifier of the request" />
          </Box>
        )}
      </Alert>
    </div>
  );
}
