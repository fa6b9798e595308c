import type { Schemas } from 'computation-management-client';
import { useAction } from '../loading/use-action.ts';
import { ConfirmModal } from '../shell/confirm-modal.tsx';
import { useDomain, useFrame } from '../shell/console-context.ts';
import type { Input } from './load-overview.ts';

interface Props {
  computation: Schemas['Computation'];
  input: Input;
  onClose: () => void;
  onUnlinked: () => void;
}

export function UnlinkAsset({ computation, input: { id, file_name }, onClose, onUnlinked }: Props) {
  const { client } = useDomain();
  const { notify } = useFrame();
  const unlink = useAction(async () => {
    await client.unlinkAsset({ id, computationID: computation.id });
    notify(`${file_name} is no longer linked.`);
    onUnlinked();
  });
  return (
    <ConfirmModal
      title={`Unlink ${file_name}`}
      confirm="Unlink"
      isRunning={unlink.isRunning}
      problem={unlink.problem}
      onConfirm={() => void unlink.run()}
      onClose={onClose}
    >
      The manifest of {computation.name} changes, so approvals that were given become stale. A run that is active keeps the file.
    </ConfirmModal>
  );
}
