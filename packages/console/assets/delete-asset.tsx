import type { KnownAsset } from 'computation-management-client';
import { useState } from 'react';
import { ReadAgain } from '../loading/read-again.tsx';
import { useAction } from '../loading/use-action.ts';
import { addressOf } from '../routing/places.ts';
import { useGoOn } from '../routing/use-go-on.ts';
import { ConfirmModal } from '../shell/confirm-modal.tsx';
import { useDomain, useFrame } from '../shell/console-context.ts';

interface Props {
  found: KnownAsset;
  onClose: () => void;
  onReadAgain: () => void;
}

export function DeleteAsset({ found, onClose, onReadAgain }: Props) {
  // The page behind the dialog may load again: the version to delete is the one that the user has seen.
  const [{ asset, etag }] = useState(found);
  const { client, domain } = useDomain();
  const { notify } = useFrame();
  const goOn = useGoOn();
  const { id, file_name } = asset;
  const remove = useAction(async () => {
    await client.deleteAsset({ id, ifMatch: etag });
    notify(`${file_name} is deleted.`);
    goOn(addressOf({ screen: 'assets', domain }));
  });
  return (
    <ConfirmModal
      title={`Delete ${file_name}`}
      confirm="Delete"
      isRunning={remove.isRunning}
      problem={remove.problem}
      conflict={
        <ReadAgain problem={remove.problem} readAgain={onReadAgain}>
          Nothing was deleted. Reading {file_name} again shows the changes of others.
        </ReadAgain>
      }
      onConfirm={() => void remove.run()}
      onClose={onClose}
    >
      Its content is deleted, and it is removed from every computation. This cannot be undone.
    </ConfirmModal>
  );
}
