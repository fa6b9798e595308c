import { Button } from '@cloudscape-design/components';
import { type Schemas, ServiceProblem } from 'computation-management-client';
import { useEffect, useEffectEvent, useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { readArchive } from '../evidence/evidence-archive.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { creatorsInRun } from '../loading/overview.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAction } from '../loading/use-action.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { addressOf } from '../routing/places.ts';
import { Hash } from '../show/hash.tsx';
import { saveFile } from '../show/save-file.ts';
import { statusText } from '../show/status.tsx';

interface Props {
  run: Schemas['Run'];
  computation: Schemas['Computation'];
  /** Called with the run that the user has asked to stop. */
  onStopped: (run: Schemas['Run']) => void;
}

/**
 * Shows what the user can do about a run.
 * @param computation the computation of the run. Undefined while it is not read: then it is not known what the user may do
 */
export function RunActions({
  run,
  computation,
  onStopped,
}: Omit<Props, 'computation'> & { computation: Props['computation'] | undefined }) {
  const { domain, me } = useDomain();
  const { computation_id: id, cvm_id, ended_at } = run;
  return (
    <>
      {computation && <StopRun run={run} computation={computation} onStopped={onStopped} />}
      <EndOfRun run={run} name={computation?.name ?? 'Run'} />
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
function StopRun({ run, computation, onStopped }: Props) {
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

/**
 * Tells the user, who may look elsewhere, that a watched run has ended: in the title of the tab, and by a notification. Shows the button
 * that asks for a notification.
 */
function EndOfRun({ run: { id, status, ended_at }, name }: { run: Schemas['Run']; name: string }) {
  const [isAsked, setAsked] = useState(false);
  const [wasActive] = useState(ended_at === null);
  const hasEnded = wasActive && ended_at !== null;
  const tell = useEffectEvent(() => {
    document.title = `${statusText(status)}: ${name}`;
    if (isAsked && Notification.permission === 'granted') new Notification(`${statusText(status)}: ${name}`, { tag: id });
  });
  useEffect(() => {
    if (hasEnded) tell();
  }, [hasEnded]);
  const isOffered = ended_at === null && 'Notification' in window && Notification.permission !== 'denied';
  if (!isOffered) return null;
  return (
    <Button
      iconName={isAsked ? 'notification' : 'status-pending'}
      disabled={isAsked}
      disabledReason="The browser will notify you. Keep this page open."
      onClick={() => void Notification.requestPermission().then((answer) => setAsked(answer === 'granted'))}
    >
      Notify me at its end
    </Button>
  );
}

/**
 * Shows buttons for a run that has ended: one saves its evidence with everything that the check of the evidence needs, the other goes to
 * the check.
 */
function DownloadEvidence({ run: { id: run, computation_id: id } }: { run: Schemas['Run'] }) {
  const { client, domain } = useDomain();
  const { notify } = useFrame();
  const download = useAction(async () => {
    const { name, text, command } = await readArchive(client, { id, run });
    saveFile(name, text);
    notify(
      <>
        The evidence, the keys, the events and the attestation tokens are saved as one file. To check it, run this beside it:{' '}
        <Hash value={command} what="command" isWhole />
      </>,
    );
  });
  return (
    <>
      <ProblemAlert problem={download.problem} />
      <Button iconName="download" loading={download.isRunning} onClick={() => void download.run()}>
        Download evidence
      </Button>
      <Button href={addressOf({ screen: 'verify-run', domain, id, run })}>Verify this run</Button>
    </>
  );
}
