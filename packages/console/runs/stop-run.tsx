import { Button } from '@cloudscape-design/components';
import { type Schemas, ServiceProblem } from 'computation-management-client';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { creatorsInRun } from '../loading/overview.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { useLoaded } from '../loading/use-loaded.ts';

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
  const { id } = computation;
  const creators = useLoaded(run.id, async (signal) => {
    if (run.ended_at !== null || permissions.stopRun(me, computation, [])) return [];
    return await creatorsInRun(client, run, signal);
  });
  const stop = useAction(async () => {
    const latest = await client.getRun({ id }); // the API stops it, even if this page shows another one
    if (latest.id !== run.id) {
      const detail = 'This run has ended, and another one has been started since. Nothing was stopped.';
      throw new ServiceProblem({ status: 409, code: 'conflict', detail, request: `stop of the run ${run.id}` });
    }
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
        <ConfirmModal title="Stop the run" confirm="Stop run" action={stop} onClose={() => setAsked(false)}>
          The CVM {run.cvm_id} stops working on the run. The run ends as cancelled, and its results are lost.
        </ConfirmModal>
      )}
    </>
  );
}
