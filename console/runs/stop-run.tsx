import Button from '@cloudscape-design/components/button';
import { useState } from 'react';
import { findRows, page, type Schemas } from '../../client/index.ts';
import { permissions } from '../access/permissions.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { ConfirmModal } from '../shell/confirm-modal.tsx';
import { useDomain, useFrame } from '../shell/console-context.ts';

interface Props {
  run: Schemas['Run'];
  computation: Schemas['Computation'];
  onStopped: (run: Schemas['Run']) => void;
}

/** Stops an active run, after a question. Shown to those who may: by role, as the owner, or as the creator of an asset of the run. */
export function StopRun({ run, computation, onStopped }: Props) {
  const { client, me } = useDomain();
  const { notify } = useFrame();
  const [isAsked, setAsked] = useState(false);
  const { id, assets } = computation;
  const creators = useLoaded(id, async (signal) => {
    if (permissions.stopRun(me, computation, [])) return [];
    const ids = assets.map((asset) => asset.id);
    const rows = await findRows(ids, (range) => page(client, 'listAssets', { ...range, signal }));
    return [...rows.values()].map(({ created_by }) => created_by);
  });
  const stop = useAction(async () => {
    onStopped(await client.stopRun({ id }));
    setAsked(false);
    notify('The CVM has been asked to stop the run.');
  });
  if (run.ended_at !== null) return null;
  if (creators.problem !== undefined) {
    return <ProblemAlert problem={creators.problem} retry={creators.reload} isRetrying={creators.isLoading} />;
  }
  if (!permissions.stopRun(me, computation, creators.value ?? [])) return null;
  return (
    <>
      <Button
        disabled={run.status === 'stopping'}
        disabledReason="The CVM has been asked to stop the run."
        onClick={() => setAsked(true)}
      >
        Stop run
      </Button>
      {isAsked && (
        <ConfirmModal
          title="Stop the run"
          confirm="Stop run"
          isRunning={stop.isRunning}
          problem={stop.problem}
          onConfirm={() => void stop.run()}
          onClose={() => setAsked(false)}
        >
          The CVM {run.cvm_id} ends what it does. The run becomes cancelled, and its results are lost.
        </ConfirmModal>
      )}
    </>
  );
}
