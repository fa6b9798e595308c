import Alert from '@cloudscape-design/components/alert';
import Button from '@cloudscape-design/components/button';
import { ServiceProblem } from 'computation-management-client';
import type { ReactNode } from 'react';

interface Props {
  /** Why the change failed. Nothing is shown unless someone else was faster. */
  problem: unknown;
  readAgain: () => void;
  /** What reading again means. */
  children: ReactNode;
}

/** Offers to read again what someone else has changed since it was shown. */
export function ReadAgain({ problem, readAgain, children }: Props) {
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
      {children}
    </Alert>
  );
}
