import { Button } from '@cloudscape-design/components';
import { type Schemas, ServiceProblem } from 'computation-management-client';
import { useState } from 'react';
import { permissions, useDomain, useFrame } from '../access/index.ts';
import { readArchive } from '../evidence/evidence-archive.ts';
import { followLogHere } from '../evidence/seen-log.ts';
import { ConfirmModal } from '../frame/index.ts';
import { ActionButton, creatorsInRun, ProblemAlert, useChange, useLoaded } from '../loading/index.ts';
import { addressOf } from '../routing/index.ts';
import { Hash, saveFile } from '../show/index.ts';

interface Props {
  run: Schemas['Run'];
  /** The computation of the run. Undefined while it is not read: then it is not known what the user may do. */
  computation: Schemas['Computation'] | undefined;
}

/** Shows what the user can do about a run. */
export function RunActions({ run, computation }: Props) {
  const { domain, me } = useDomain();
  const { computation_id: id, cvm_id, ended_at } = run;
  return (
    <>
      {computation && <StopRun run={run} computation={computation} />}
      {ended_at !== null && <DownloadEvidence run={run} />}
      {ended_at !== null && computation && permissions.startRun(me, computation) && (
        <Button variant="primary" href={addressOf({ screen: 'computation', domain, id }, { start: cvm_id })}>
          Run again
        </Button>
      )}
    </>
  );
}

/**
 * Shows a button that stops an active run, after a question, to the users who may stop it: by role, as the owner, or as the creator of an
 * asset of the run.
 */
function StopRun({ run, computation }: { run: Schemas['Run']; computation: Schemas['Computation'] }) {
  const { client, me } = useDomain();
  const [isAsked, setAsked] = useState(false);
  const { id } = computation;
  const creators = useLoaded(run.id, async (signal) => {
    if (run.ended_at !== null || permissions.stopRun(me, computation, [])) return [];
    return await creatorsInRun(client, run, signal);
  });
  const stopThis = async () => {
    const latest = await client.getRun({ id }); // the API stops it, even if this page shows another one
    if (latest.id === run.id) return await client.stopRun({ id });
    const detail = 'This run has ended, and another one has been started since. Nothing was stopped.';
    throw new ServiceProblem({ status: 409, code: 'conflict', detail, request: `stop of the run ${run.id}` });
  };
  const close = () => setAsked(false);
  const stop = useChange(stopThis, 'The CVM has been asked to stop the run.', close);
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
        <ConfirmModal title="Stop the run" confirm="Stop run" action={stop} onClose={close}>
          The CVM {run.cvm_id} stops working on the run. The run ends as cancelled, and its results are lost.
        </ConfirmModal>
      )}
    </>
  );
}

/**
 * Shows buttons for a run that has ended: one saves its evidence with everything that the check of the evidence needs, the other goes to
 * the check.
 */
function DownloadEvidence({ run: { id: run, computation_id: id } }: { run: Schemas['Run'] }) {
  const { client, domain } = useDomain();
  const { notify } = useFrame();
  const download = async () => {
    const { name, text, command } = await readArchive(client, { id, run });
    saveFile(name, text);
    const alarm = await followLogHere(client, text);
    if (alarm) throw alarm;
    notify(
      <>
        The evidence, the keys, the events and the attestation tokens are saved as one file. To check it, run this beside it:{' '}
        <Hash value={command} what="command" isWhole />
      </>,
    );
  };
  return (
    <>
      <ActionButton iconName="download" act={download}>
        Download evidence
      </ActionButton>
      <Button href={addressOf({ screen: 'verify-run', domain, id, run })}>Verify this run</Button>
    </>
  );
}
