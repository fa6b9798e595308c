import { Alert, KeyValuePairs } from '@cloudscape-design/components';
import { type Client, findRows, type Schemas } from 'computation-management-client';
import { useState } from 'react';
import { useDomain } from '../access/index.ts';
import { GoTo, Panel, PlaceTabs, ScreenFrame } from '../frame/index.ts';
import { loadComputation, LoadedView, ProblemAlert, problemText, useLoaded } from '../loading/index.ts';
import { ManifestTab } from '../manifest/manifest-view.tsx';
import { aboveInComputation } from '../routing/index.ts';
import { Elapsed, Hash, Moment, momentText, Name, Status, Term, useNow, User } from '../show/index.ts';
import { LastGoodRun, Outcome, PhasesChart } from './outcome.tsx';
import { fatalRefusal } from './key-events.ts';
import { phasesOf } from './phases.ts';
import { ResultPanel } from './result-panel.tsx';
import { RunActions } from './run-actions.tsx';
import { RunLog, ShareLog } from './run-log.tsx';
import { Timeline } from './timeline.tsx';
import { useWatchedRun } from './watched-run.ts';
import { AttestationBadge } from '../attestation/attestation-panel.tsx';

const linesOfTab = 500;
const linesOfFailure = 20;

/** Shows the screen of a run: its state, its events as they come, and after its end its evidence. */
export function RunScreen({ id, run }: { id: string; run: string }) {
  const [attempt, setAttempt] = useState(0);
  return <WatchedRun key={attempt} id={id} run={run} watchAgain={() => setAttempt(attempt + 1)} />;
}

function WatchedRun({ id, run: runId, watchAgain }: { id: string; run: string; watchAgain: () => void }) {
  const { domain, client } = useDomain();
  const now = useNow();
  const watched = useWatchedRun({ id, run: runId });
  const { run, events, earlier, isFollowing, interruption, problem } = watched;
  const computation = useLoaded(id, (signal) => loadComputation(client, id, signal));
  const phases = (of: Schemas['Run']) => phasesOf(of, events, { earlier, now });
  const isLive = run !== undefined && run.ended_at === null && problem === undefined;

  return (
    <ScreenFrame
      title={run ? `Run of ${momentText(run.started_at)}` : 'Run'}
      description={computation.value?.computation.name}
      above={aboveInComputation(domain, id, computation.value?.computation.name)}
      actions={run && <RunActions run={run} computation={computation.value?.computation} />}
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
      <LoadedView loaded={{ value: run, problem, isLoading: false, round: 0, reload: watchAgain }} what="the run">
        {(shown) => (
          <>
            <Outcome run={shown} phases={phases(shown)} refusal={fatalRefusal(shown, events)}>
              {computation.value?.computation.log_access === 'none' && (
                <>
                  Nobody may read the log of the algorithm. <ShareLog computation={computation.value.computation} />
                </>
              )}
            </Outcome>
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
            {shown.status === 'completed' && shown.result && <ResultPanel run={shown} />}
            <Panel title="Phases">
              <PhasesChart phases={phases(shown)} />
            </Panel>
            <RunSummary run={shown} latest={events.at(-1)?.event_type} />
            <PlaceTabs
              label="Parts of the run"
              place={{ screen: 'run', domain, id, run: runId }}
              parts={{
                timeline: () => (
                  <Panel title="Timeline" counter={`(${(earlier + events.length).toLocaleString('en')})`}>
                    <Timeline
                      run={shown}
                      events={events}
                      earlier={earlier}
                      assets={computation.value?.computation.assets ?? []}
                      isLive={isLive}
                      announces={isLive && isFollowing}
                    />
                  </Panel>
                ),
                log: () => (
                  <Panel title="Log of the agent">
                    <RunLog
                      run={shown}
                      isLive={isLive}
                      most={linesOfTab}
                      share={computation.value && <ShareLog computation={computation.value.computation} />}
                    />
                  </Panel>
                ),
                manifest: () => <ManifestTab id={id} run={runId} />,
              }}
            />
          </>
        )}
      </LoadedView>
    </ScreenFrame>
  );
}

/**
 * Shows the facts of a run and its attestation.
 * @param latest the type of the run's latest event. When the type changes, the attestation is read again
 */
export function RunSummary({ run, latest }: { run: Schemas['Run']; latest: string | undefined }) {
  const { client } = useDomain();
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
            { label: 'CVM', value: <GoTo place={{ screen: 'cvm', cvm: cvm_id }}>{cvm_id}</GoTo> },
            { label: 'Started by', value: <User of={started_by} /> },
            { label: 'Started', value: <Moment at={started_at} /> },
            { label: 'Ended', value: ended_at === null ? 'Not yet' : <Moment at={ended_at} /> },
            { label: 'Duration', value: <Elapsed from={started_at} to={ended_at} /> },
            { label: 'Identifier', value: <Hash value={id} what="identifier" /> },
            { label: 'Manifest digest', value: <Hash value={manifest_digest} what="manifest digest" /> },
          ]}
        />
      </Panel>
      <Panel title="Attestation" info={<Term of="attestation" />}>
        <LoadedView loaded={attestation} what="the attestation">
          {(value) => <AttestationBadge attestation={value} />}
        </LoadedView>
      </Panel>
    </>
  );
}

type Run = Schemas['Run'];

/** The types of the events that begin a phase of a run in the agent. */
const agentPhases = ['ReceivingAlgorithm', 'ReceivingData', 'Running', 'ConsumingResults'];

/**
 * Shows which users must send or fetch a file at the agent of a run now, with the command. Simulated CVMs, which nobody registers, need
 * nothing.
 */
export function AgentSteps({ run, events }: { run: Run; events: readonly Pick<Schemas['Event'], 'event_type'>[] }) {
  const { client, me } = useDomain();
  const phase = events.findLast(({ event_type }) => agentPhases.includes(event_type))?.event_type;
  const isWaiting =
    phase !== undefined && (run.ended_at === null || (phase === 'ConsumingResults' && run.status === 'completed'));
  const loaded = useLoaded(`${run.id} ${isWaiting ? phase : ''}`, async (signal) =>
    isWaiting ? await stepsOf(client, { run, phase, signal }) : undefined,
  );
  if (!loaded.value || loaded.value.steps.length === 0) return null;
  const { steps, agent } = loaded.value;
  return (
    <Panel
      title="What the parties do now"
      description={
        agent === null ? (
          'Ask the owner of the CVM for the address and the certificate of its agent.'
        ) : (
          <>
            The agent is at <Name of={agent} />. Ask the owner of the CVM for its certificate: the service could name another
            machine.
          </>
        )
      }
    >
      <ul className="timeline">
        {steps.map(({ user, what, file, command }) => (
          <li key={JSON.stringify([user, file])} className="long-words">
            <strong>{user === me.user ? 'You' : <User of={user} />}</strong>: {what} {file !== undefined && <Name of={file} />}{' '}
            <Hash value={command} what={`command to ${what} ${file ?? ''}`} isWhole />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/**
 * The options of commands at the agent whose files the party has itself: its key, and the agent's certificate, of which the service could
 * name a wrong one.
 */
const ofParty = '--key KEY --agent-certificate AGENT.pem';

/** The types of the files that the agent of a run waits for after an event, by the type of the event, with the option of their command. */
const sentAfter: Record<string, { type: 'algorithm' | 'dataset'; option: string } | undefined> = {
  ReceivingAlgorithm: { type: 'algorithm', option: '--type TYPE ' },
  ReceivingData: { type: 'dataset', option: '' },
};

/** Returns what users must do at the agent of a run after an event. docs/participant.md explains the commands. */
async function stepsOf(client: Client, { run, phase, signal }: { run: Run; phase: string; signal: AbortSignal }) {
  const { id, computation_id, result } = run;
  const { matches } = await client.find({ q: run.cvm_id, kind: 'cvm', limit: 50, signal });
  if (!matches.some((match) => match.id === run.cvm_id)) return undefined;
  const { agent_url: agent } = await client.getCvm({ cvmID: run.cvm_id, signal });
  const { assets, owner, consumers, result_review } = await client.getComputation({ id: computation_id, signal });
  if (phase === 'ConsumingResults') {
    const isAwaited = !result || result.state === 'awaiting_file';
    const fetching = result_review
      ? { users: isAwaited ? result_review.reviewers : [], what: 'fetch the result and review it', command: 'review' }
      : { users: [...new Set([owner, ...consumers])], what: 'fetch the result', command: 'result' };
    const command = `cms ${fetching.command} ${computation_id} --run ${id} ${ofParty}`;
    return { steps: fetching.users.map((user) => ({ user, what: fetching.what, file: undefined, command })), agent };
  }
  const sent = sentAfter[phase];
  if (!sent) return { steps: [], agent };
  const ids = assets.map((asset) => asset.id);
  const rows = await findRows(client, 'listAssets', ids, { signal });
  const steps = [...rows.values()]
    .filter(({ asset_type, source }) => asset_type === sent.type && !source?.url) // the agent fetches the others
    .map(({ created_by: user, file_name: file }) => {
      const command = `cms send FILE ${sent.option}--computation ${computation_id} --run ${id} ${ofParty}`;
      return { user, what: 'send', file, command };
    });
  return { steps, agent };
}
