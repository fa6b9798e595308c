import { Box, Button, Modal, SpaceBetween } from '@cloudscape-design/components';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { useFrame } from '../access/console-context.ts';
import { ProblemAlert, ReadAgain } from '../loading/problem-alert.tsx';
import { type Action, useAction } from '../loading/use-action.ts';
import { useGoOn } from '../routing/navigation.ts';
import { useUnsavedWork } from '../routing/unsaved-work.ts';

interface Props {
  title: ReactNode;
  /** The text of the button, such as `Delete`. */
  confirm: string;
  children: ReactNode;
  action: Action<[]>;
  /** The places in the request whose errors are shown at fields, such as `/name`. */
  fields?: readonly string[];
  /** Shown below the problem, such as a way to solve a conflict. */
  conflict?: ReactNode;
  isDisabled?: boolean;
  onClose: () => void;
}

/** Asks before something is done, and shows why it failed. It stays open until there is an answer. */
export function ConfirmModal({ title, confirm, children, action, fields, conflict, isDisabled = false, onClose }: Props) {
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
            <Button variant="primary" form={form} loading={isRunning} disabled={isDisabled}>
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
            if (!isDisabled && !isRunning) void run();
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
 * Moves the focus to the first field of a dialog, or to its way out: the design system focuses the X first, before the next frame. Not to a
 * field that opens a list, which would cover the buttons.
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

/** The reason why a change cannot be cancelled while it is under way. */
export const alreadySent = 'It has been sent. Wait for the answer.';

interface DeleteProps {
  /** The word for the deletion. Default: `Delete`. */
  verb?: 'Delete' | 'Remove';
  name: string;
  /** Deletes the version that the page shows. */
  remove: () => Promise<unknown>;
  /** The message after the deletion. */
  notice: string;
  /** The address to go to afterwards. */
  list: string;
  onClose: () => void;
  onReadAgain: () => void;
  /** The explanation of what else is lost. */
  children: ReactNode;
}

/** Asks before something is deleted. Deletes nothing that someone has changed since it was shown. */
export function DeleteModal({ onClose, onReadAgain, children, ...shown }: DeleteProps) {
  // The page behind the dialog may load again: the version to delete is the one that the user has seen.
  const [{ verb = 'Delete', name, remove, notice, list }] = useState(shown);
  const { notify } = useFrame();
  const goOn = useGoOn();
  const action = useAction(async () => {
    await remove();
    notify(notice);
    goOn(list);
  });
  return (
    <ConfirmModal
      title={
        <>
          {verb} <bdi>{name}</bdi>
        </>
      }
      confirm={verb}
      action={action}
      conflict={
        <ReadAgain problem={action.problem} readAgain={onReadAgain}>
          Nothing was {`${verb.toLowerCase()}d`}. Reading <bdi>{name}</bdi> again shows the changes of others.
        </ReadAgain>
      }
      onClose={onClose}
    >
      {children}
    </ConfirmModal>
  );
}
