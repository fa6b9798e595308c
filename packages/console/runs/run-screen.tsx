import { Alert, Button, KeyValuePairs, Link, Tabs } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useState } from 'react';
import { LoadedView, ProblemAlert } from '../loading/problem-alert.tsx';
import { problemText } from '../loading/problem-text.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { ManifestTab } from '../manifest/manifest-view.tsx';
import { navigate, useAddress } from '../routing/navigation.ts';
import { aboveInComputation, addressOf, tabOf, tabQuery } from '../routing/places.ts';
import { useDomain } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { AttestationBadge } from '../attestation/attestation-panel.tsx';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { Hash } from '../show/hash.tsx';
import { Term } from '../show/term.tsx';
import { durationText, momentText } from '../show/texts.ts';
import { useNow } from '../show/service-clock.ts';
import { Status, StatusIndicator } from '../show/status.tsx';
import { Elapsed, Moment } from '../show/time.tsx';
import { Name } from '../show/visible-texts.tsx';
import { loadComputation } from '../loading/overview.ts';
import { DownloadEvidence } from '../evidence/download-evidence.tsx';
import { AgentSteps } from './agent-steps.tsx';
import { EndOfRun } from './end-of-run.tsx';
import { LastGoodRun } from './last-good-run.tsx';
import { type Phase, phasesOf } from './phases.ts';
import { PhasesChart } from './phases-chart.tsx';
import { RunLog } from './run-log.tsx';
import { StopRun } from './stop-run.tsx';
import { Timeline } from './timeline.tsx';
import { useWatchedRun } from './watched-run.ts';
import { Panel } from '../frame/panel.tsx';

const tabs = ['events', 'log', 'manifest'] as const;
const linesOfTab = 500;
const linesOfFailure = 20;

/** A run as it goes on: its state, its events as they come, and after its end its evidence. */
export function RunScreen({ id, run }: { id: string; run: string }) {
  const [attempt, setAttempt] = useState(0);
  return <WatchedRun key={attempt} id={id} run={run} watchAgain={() => setAttempt(attempt + 1)} />;
}

function WatchedRun({ id, run: runId, watchAgain }: { id: string; run: string; watchAgain: () => void }) {
  const { domain, client, me } = useDomain();
  const now = useNow();
  const tab = tabOf(useAddress().query, tabs);
  const [stopped, setStopped] = useState<Schemas['Run']>();
  const watched = useWatchedRun({ id, run: runId });
  const { events, earlier, isFollowing, interruption, problem } = watched;
  const computation = useLoaded(id, (signal) => loadComputation(client, id, signal));
  const run = watched.run?.status === 'running' && stopped ? stopped : watched.run;
  const isLive = run !== undefined && run.ended_at === null && problem === undefined;

  return (
    <ScreenFrame
      title={run ? `Run of ${momentText(run.started_at)}` : 'Run'}
      description={computation.value?.computation.name}
      above={aboveInComputation(domain, id, computation.value?.computation.name)}
      actions={
        <>
          {run && computation.value && <StopRun run={run} computation={computation.value.computation} onStopped={setStopped} />}
          {run && <EndOfRun run={run} name={computation.value?.computation.name ?? 'Run'} />}
          {run && run.ended_at !== null && <DownloadEvidence run={run} />}
          {run && run.ended_at !== null && computation.value && permissions.startRun(me, computation.value.computation) && (
            <Button variant="primary" href={addressOf({ screen: 'computation', domain, id }, { start: run.cvm_id })}>
              Run again
            </Button>
          )}
        </>
      }
    >
      {/* Without the computation it is not known whether the user may stop the run. */}
      {problem === undefined && (
        <ProblemAlert problem={computation.problem} retry={computation.reload} isRetrying={computation.isLoading} />
      )}
      {interruption !== undefined && (
        <Alert type="warning" header="The service cannot be reached">
          {problemText(interruption).detail} Trying again.
        </Alert>
      )}
      <LoadedView loaded={{ value: run, problem, isLoading: false, reload: watchAgain }} what="the run">
        {(shown) => (
          <>
            <Outcome run={shown} phases={phasesOf(shown, events, { earlier, now })} />
            {shown.status === 'failed' && (
              <>
                {computation.value?.computation.log_access === 'parties' && (
                  <Panel title="The last lines of its log">
                    <RunLog run={shown} isLive={false} most={linesOfFailure} />
                  </Panel>
                )}
                <LastGoodRun run={shown} />
              </>
            )}
            <AgentSteps run={shown} events={events} />
            <Panel title="Phases">
              <PhasesChart phases={phasesOf(shown, events, { earlier, now })} />
            </Panel>
            <RunSummary run={shown} latest={events.at(-1)?.event_type} />
            <Tabs
              ariaLabel="Parts of the run"
              activeTabId={tab}
              onChange={({ detail: { activeTabId } }) =>
                navigate(addressOf({ screen: 'run', domain, id, run: runId }, tabQuery(activeTabId, tabs)))
              }
              tabs={[
                {
                  id: 'events',
                  label: 'Timeline',
                  content: (
                    <Panel title="Timeline" counter={`(${(earlier + events.length).toLocaleString('en')})`}>
                      <Timeline run={shown} events={events} earlier={earlier} isLive={isLive} announces={isLive && isFollowing} />
                    </Panel>
                  ),
                },
                {
                  id: 'log',
                  label: 'Log',
                  content: tab === 'log' && (
                    <Panel title="Log of the agent">
                      <RunLog run={shown} isLive={isLive} most={linesOfTab} />
                    </Panel>
                  ),
                },
                { id: 'manifest', label: 'Manifest', content: tab === 'manifest' && <ManifestTab id={id} run={runId} /> },
              ]}
            />
          </>
        )}
      </LoadedView>
    </ScreenFrame>
  );
}

function Outcome({ run: { status, reason, ended_at, started_at }, phases }: { run: Schemas['Run']; phases: Phase[] }) {
  if (status === 'failed') {
    const failed = phases.at(-1);
    const took = durationText(Date.parse(ended_at ?? started_at) - Date.parse(started_at));
    return (
      <Alert type="error" header={<>The run failed: {reason === null ? 'no reason was given' : <Name of={reason} />}</>}>
        It failed after {took}, in the phase <strong>{failed?.name}</strong>.
      </Alert>
    );
  }
  if (status === 'cancelled') {
    return (
      <Alert type="warning" header="The run was cancelled">
        {reason === null ? 'No reason was given.' : <Name of={reason} />}
      </Alert>
    );
  }
  if (status === 'completed') {
    return (
      <Alert type="success" header="The run completed">
        {reason === null ? (
          'The results are in the CVM. Result consumers fetch them there with their keys.'
        ) : (
          <Name of={reason} />
        )}
      </Alert>
    );
  }
  return null;
}

/** @param latest the type of the latest event: with another one, the attestation is read again */
function RunSummary({ run, latest }: { run: Schemas['Run']; latest: string | undefined }) {
  const { domain, client } = useDomain();
  const { id, status, cvm_id, started_at, ended_at, started_by, manifest_digest, computation_id } = run;
  const attestation = useLoaded(`${id} ${status} ${latest ?? ''}`, (signal) =>
    client.getAttestation({ id: computation_id, run: id, signal }),
  );
  return (
    <>
      <Panel title="Summary">
        <KeyValuePairs
          columns={4}
          items={[
            { label: 'Status', value: <Status status={status} /> },
            { label: 'CVM', value: <Link href={addressOf({ screen: 'cvm', domain, cvm: cvm_id })}>{cvm_id}</Link> },
            { label: 'Started by', value: <Name of={started_by} /> },
            { label: 'Started', value: <Moment at={started_at} /> },
            { label: 'Ended', value: ended_at === null ? 'Not yet' : <Moment at={ended_at} /> },
            { label: 'Duration', value: <Elapsed from={started_at} to={ended_at} /> },
            { label: 'Identifier', value: <Hash value={id} what="identifier" /> },
            { label: 'Manifest digest', value: <Hash value={manifest_digest} what="manifest digest" /> },
          ]}
        />
      </Panel>
      <Panel title="Attestation" info={<Term of="attestation" />}>
        {attestation.value ? (
          <AttestationBadge attestation={attestation.value} />
        ) : attestation.problem === undefined ? (
          <StatusIndicator type="loading">Reading</StatusIndicator>
        ) : (
          <StatusIndicator type="warning">Not read: the service did not say</StatusIndicator>
        )}
      </Panel>
    </>
  );
}
