import { Alert, Box, CopyToClipboard, KeyValuePairs, Link, Tabs } from '@cloudscape-design/components';
import { type Client, findRows, page, type Schemas } from 'computation-management-client';
import { useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { Panel, ScreenFrame } from '../frame/screen-frame.tsx';
import { loadComputation } from '../loading/overview.ts';
import { LoadedView, ProblemAlert } from '../loading/problem-alert.tsx';
import { problemText } from '../loading/problem-text.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { ManifestTab } from '../manifest/manifest-view.tsx';
import { navigate, useAddress } from '../routing/navigation.ts';
import { aboveInComputation, addressOf, tabOf, tabQuery } from '../routing/places.ts';
import { useNow } from '../show/service-clock.ts';
import { momentText } from '../show/texts.ts';
import { LastGoodRun, Outcome, PhasesChart } from './outcome.tsx';
import { phasesOf } from './phases.ts';
import { RunActions } from './run-actions.tsx';
import { RunLog, ShareLog } from './run-log.tsx';
import { Timeline } from './timeline.tsx';
import { useWatchedRun } from './watched-run.ts';
import { AttestationBadge } from '../attestation/attestation-panel.tsx';
import { Hash } from '../show/hash.tsx';
import { Status, StatusIndicator } from '../show/status.tsx';
import { Term } from '../show/term.tsx';
import { Elapsed, Moment } from '../show/time.tsx';
import { Name, User } from '../show/visible-texts.tsx';

const tabs = ['events', 'log', 'manifest'] as const;
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
  const tab = tabOf(useAddress().query, tabs);
  const [stopped, setStopped] = useState<Schemas['Run']>();
  const watched = useWatchedRun({ id, run: runId });
  const { events, earlier, isFollowing, interruption, problem } = watched;
  const computation = useLoaded(id, (signal) => loadComputation(client, id, signal));
  const run = watched.run?.status === 'running' && stopped ? stopped : watched.run;
  const phases = (of: Schemas['Run']) => phasesOf(of, events, { earlier, now });
  const isLive = run !== undefined && run.ended_at === null && problem === undefined;

  return (
    <ScreenFrame
      title={run ? `Run of ${momentText(run.started_at)}` : 'Run'}
      description={computation.value?.computation.name}
      above={aboveInComputation(domain, id, computation.value?.computation.name)}
      actions={run && <RunActions run={run} computation={computation.value?.computation} onStopped={setStopped} />}
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
            <Outcome run={shown} phases={phases(shown)}>
              {computation.value?.computation.log_access === 'none' && (
                <>
                  Nobody may read its log. <ShareLog computation={computation.value.computation} />
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
            <Panel title="Phases">
              <PhasesChart phases={phases(shown)} />
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
                      <RunLog
                        run={shown}
                        isLive={isLive}
                        most={linesOfTab}
                        share={computation.value && <ShareLog computation={computation.value.computation} />}
                      />
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

/**
 * Shows the facts of a run and its attestation.
 * @param latest the type of the run's latest event. When the type changes, the attestation is read again
 */
export function RunSummary({ run, latest }: { run: Schemas['Run']; latest: string | undefined }) {
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

type Run = Schemas['Run'];

interface Step {
  user: string;
  what: string;
  file?: string;
  command: string;
}

/**
 * Shows which users must send or fetch a file at the agent of a run now, with the command. Simulated CVMs, which nobody registers, need
 * nothing.
 */
export function AgentSteps({ run, events }: { run: Run; events: readonly Pick<Schemas['Event'], 'event_type'>[] }) {
  const { client, me } = useDomain();
  const phase = events.findLast(({ event_type }) => Object.hasOwn(stepsIn, event_type))?.event_type;
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
            <Box variant="code">{command}</Box>{' '}
            <CopyToClipboard
              variant="icon"
              textToCopy={command}
              copyButtonAriaLabel={`Copy the command to ${what} ${file ?? ''}`}
              copySuccessText="Copied"
              copyErrorText="Not copied"
            />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Returns a function that lists, for each linked asset of a type, that its creator must send the file to the agent, with the command. */
const sending =
  (type: 'algorithm' | 'dataset', option: string) =>
  ({ run, inputs }: Given): Step[] =>
    inputs
      .filter(({ asset_type }) => asset_type === type)
      .map(({ created_by: user, file_name: file }) => {
        return { user, what: 'send', file, command: `cms send FILE ${option}${options(run)}` };
      });

/**
 * The functions that list what users must do at the agent after an event, by the type of the event. docs/participant.md explains the
 * commands.
 */
const stepsIn: Record<string, (given: Given) => Step[]> = {
  ReceivingAlgorithm: sending('algorithm', '--type TYPE '),
  ReceivingData: sending('dataset', ''),
  Running: () => [],
  ConsumingResults: ({ run, consumers }) =>
    consumers.map((user) => ({
      user,
      what: 'fetch the result',
      command: `cms result ${run.computation_id} --run ${run.id} ${ofParty}`,
    })),
};

/**
 * The options of commands at the agent whose files the party has itself: its key, and the agent's certificate, of which the service could
 * name a wrong one.
 */
const ofParty = '--key KEY --agent-certificate AGENT.pem';
const options = ({ computation_id, id }: Run) => `--computation ${computation_id} --run ${id} ${ofParty}`;

interface Given {
  run: Run;
  inputs: Pick<Schemas['AssetRow'], 'created_by' | 'file_name' | 'asset_type'>[];
  consumers: string[];
}

async function stepsOf(
  client: Client,
  { run, phase, signal }: { run: Run; phase: string; signal: AbortSignal },
): Promise<{ steps: Step[]; agent: string | null } | undefined> {
  const { matches } = await client.find({ q: run.cvm_id, kind: 'cvm', limit: 50, signal });
  if (!matches.some(({ id }) => id === run.cvm_id)) return undefined;
  const cvm = await client.getCvm({ cvmID: run.cvm_id, signal });
  const { assets, owner, consumers } = await client.getComputation({ id: run.computation_id, signal });
  const rows = await findRows(
    assets.map(({ id }) => id),
    (range) => page(client, 'listAssets', { ...range, signal }),
  );
  const inputs = [...rows.values()].filter(({ source }) => source === null); // the agent fetches the others
  return { steps: stepsIn[phase]?.({ run, inputs, consumers: [...new Set([owner, ...consumers])] }) ?? [], agent: cvm.agent_url };
}
