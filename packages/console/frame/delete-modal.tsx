import { type ReactNode, useState } from 'react';
import { useFrame } from '../access/console-context.ts';
import { ReadAgain } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { useGoOn } from '../routing/navigation.ts';
import { ConfirmModal } from './confirm-modal.tsx';

interface Props {
  /** Default: `Delete`. */
  verb?: 'Delete' | 'Remove';
  name: string;
  /** Deletes the version that the page shows. */
  remove: () => Promise<unknown>;
  /** What the user reads afterwards. */
  notice: string;
  /** The address to go to afterwards. */
  list: string;
  onClose: () => void;
  onReadAgain: () => void;
  /** What else is lost. */
  children: ReactNode;
}

/** Asks before something is deleted, unless someone has changed it since it was shown. */
export function DeleteModal({ onClose, onReadAgain, children, ...shown }: Props) {
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
