import { useState } from 'react';
import { ReadAgain } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { addressOf } from '../routing/places.ts';
import { useGoOn } from '../routing/navigation.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { useDomain, useFrame } from '../access/console-context.ts';
import type { Overview } from '../loading/overview.ts';

interface Props {
  overview: Overview;
  onClose: () => void;
  onReadAgain: () => void;
}

/** Deletes a computation, unless someone has changed it since it was shown. */
export function DeleteComputation({ overview, onClose, onReadAgain }: Props) {
  // The page behind the dialog loads again: the version to delete is the one that the user has seen.
  const [{ computation, etag }] = useState(overview);
  const { client, domain } = useDomain();
  const { notify } = useFrame();
  const goOn = useGoOn();
  const { id, name } = computation;
  const remove = useAction(async () => {
    await client.deleteComputation({ id, ifMatch: etag });
    notify(`${name} is deleted.`);
    goOn(addressOf({ screen: 'computations', domain }));
  });
  return (
    <ConfirmModal
      title={`Delete ${name}`}
      confirm="Delete"
      isRunning={remove.isRunning}
      problem={remove.problem}
      conflict={
        <ReadAgain problem={remove.problem} readAgain={onReadAgain}>
          Nothing was deleted. Reading {name} again shows the changes of others.
        </ReadAgain>
      }
      onConfirm={() => void remove.run()}
      onClose={onClose}
    >
      Its runs, events, keys and evidence are deleted too. This cannot be undone. The linked assets stay.
    </ConfirmModal>
  );
}
