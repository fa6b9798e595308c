import Box from '@cloudscape-design/components/box';
import Button from '@cloudscape-design/components/button';
import { problemText } from '../loading/problem-text.ts';
import { useAction } from '../loading/use-action.ts';
import { useFrame } from './console-context.ts';

/** A button for users whose sign-in has expired. Says why, if it does not lead to the sign-in page. */
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
