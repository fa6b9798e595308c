import { Button, Form, SpaceBetween } from '@cloudscape-design/components';
import type { ReactNode } from 'react';
import { type Action, ProblemAlert } from '../loading/index.ts';
import { alreadySent } from './confirm-modal.tsx';

interface Props {
  /** The name of the form for screen readers, if the screen has others. */
  label?: string;
  /** The text of the button that sends the form. */
  submit: string;
  action: Action<[]>;
  isComplete: boolean;
  /** The address that the user goes to, or the function that closes the form, when the user cancels. */
  cancel: string | (() => void);
  /** False if what is under way can be cancelled too. */
  isSent?: boolean;
  /** The places in the request whose errors are shown at fields of the form. */
  fields: readonly string[];
  children: ReactNode;
}

/** Shows a form of a screen with its buttons, and why sending it failed. */
export function FormFrame({ label, submit, action, isComplete, cancel, isSent = action.isRunning, fields, children }: Props) {
  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete && !action.isRunning) void action.run();
      }}
    >
      <Form
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <Button
              variant="link"
              formAction="none"
              disabled={isSent}
              disabledReason={alreadySent}
              {...(typeof cancel === 'string' ? { href: cancel } : { onClick: cancel })}
            >
              Cancel
            </Button>
            <Button variant="primary" loading={action.isRunning} disabled={!isComplete}>
              {submit}
            </Button>
          </SpaceBetween>
        }
      >
        <SpaceBetween size="l">
          {children}
          <ProblemAlert problem={action.problem} fields={fields} />
        </SpaceBetween>
      </Form>
    </form>
  );
}
