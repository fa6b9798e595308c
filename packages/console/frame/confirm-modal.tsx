import { Box, Button, Modal, SpaceBetween } from '@cloudscape-design/components';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { type Action, ProblemAlert, ReadAgain, useChange } from '../loading/index.ts';
import { useGoOn, useUnsavedWork } from '../routing/index.ts';

interface Props {
  title: ReactNode;
  /** The text of the button that confirms the action, such as `Delete`. */
  confirm: string;
  children: ReactNode;
  action: Action<[]>;
  /** The places in the request whose errors are shown at fields of the dialog, such as `/name`. */
  fields?: readonly string[];
  /** The content below the error of the action, such as a way to solve a conflict. */
  conflict?: ReactNode;
  /** The reason why the action cannot be confirmed yet. undefined: it can. */
  obstacle?: string | undefined;
  onClose: () => void;
}

/**
 * Shows a dialog that asks before an action is done, and shows why the action failed. The dialog cannot be closed while the action is under
 * way.
 */
export function ConfirmModal({ title, confirm, children, action, fields, conflict, obstacle, onClose }: Props) {
  const { isRunning, problem, run } = action;
  const form = useId();
  useUnsavedWork('open');
  return (
    <Modal
      visible
      header={title}
      onDismiss={({ detail: { reason } }) => {
        // A click beside the dialog may be a slip. What is under way cannot be called back.
        if (reason !== 'overlay' && !isRunning) onClose();
      }}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" formAction="none" disabled={isRunning} disabledReason={alreadySent} onClick={onClose}>
              Cancel
            </Button>
            <Button
              variant="primary"
              form={form}
              loading={isRunning}
              disabled={obstacle !== undefined}
              disabledReason={obstacle ?? ''}
            >
              {confirm}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <div className="stack">
        <form
          id={form}
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (obstacle === undefined && !isRunning) void run();
          }}
        >
          {children}
          <FirstFocus form={form} />
        </form>
        <ProblemAlert problem={problem} fields={fields} />
        {conflict}
      </div>
    </Modal>
  );
}

/**
 * Moves the focus to the first field of a dialog, or to the button that closes it: the design system focuses the X first, before the next
 * frame. Skips a field that opens a list, which would cover the buttons.
 */
function FirstFocus({ form }: { form: string }) {
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const [field] = document.getElementById(form)?.querySelectorAll<HTMLElement>('input:not([role=combobox]), textarea') ?? [];
      const cancel = [...document.querySelectorAll<HTMLElement>('[role=dialog] button')].find(
        ({ innerText }) => innerText === 'Cancel',
      );
      (field ?? cancel)?.focus();
    });
    return () => cancelAnimationFrame(frame);
  }, [form]);
  return null;
}

/** The text that says why a change cannot be cancelled while it is under way. */
export const alreadySent = 'It has been sent. Wait for the answer.';

/** The functions that every dialog of a screen calls. */
export interface DialogProps {
  onClose: () => void;
  /** Closes the dialog after its change, or to see the changes of others, and loads again what the screen shows. */
  onDone: () => void;
}

/** Keeps which of a screen's dialogs is open. @param reload loads again what the screen shows, after a dialog has changed it */
export function useAsked<Dialog>(reload: () => void, first?: Dialog) {
  const [asked, setAsked] = useState(first);
  const onClose = () => setAsked(undefined);
  const onDone = () => {
    onClose();
    reload();
  };
  const dialog: DialogProps = { onClose, onDone };
  return { asked, setAsked, dialog };
}

interface DeleteProps extends DialogProps {
  /** The word for the deletion on the button. Default: `Delete`. */
  verb?: 'Delete' | 'Remove';
  name: string;
  /** Deletes the resource in the version that the page shows. */
  remove: () => Promise<unknown>;
  /** The address of the list that the console goes to after the deletion. */
  list: string;
  /** The explanation of what else is lost by the deletion. */
  children: ReactNode;
}

/** Shows a dialog that asks before a resource is deleted. Deletes nothing that someone has changed since the page showed it. */
export function DeleteModal({ onClose, onDone, children, ...shown }: DeleteProps) {
  // The page behind the dialog may load again: the version to delete is the one that the user has seen.
  const [{ verb = 'Delete', name, remove, list }] = useState(shown);
  const undone = `${verb.toLowerCase()}d`;
  const goOn = useGoOn();
  const action = useChange(remove, `${name} is ${undone}.`, () => goOn(list));
  return (
    <ConfirmModal
      title={
        <>
          {verb} <bdi>{name}</bdi>
        </>
      }
      confirm={verb}
      action={action}
      conflict={<ReadAgain problem={action.problem} readAgain={onDone} name={name} undone={undone} />}
      onClose={onClose}
    >
      {children}
    </ConfirmModal>
  );
}
