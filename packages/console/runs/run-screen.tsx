import { Alert, Tabs } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { Panel } from '../frame/panel.tsx';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { loadComputation } from '../loading/overview.ts';
import { LoadedView, ProblemAlert } from '../loading/problem-alert.tsx';
import { problemText } from '../loading/problem-text.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { ManifestTab } from '../manifest/manifest-view.tsx';
import { navigate, useAddress } from '../routing/navigation.ts';
import { aboveInComputation, addressOf, tabOf, tabQuery } from '../routing/places.ts';
import { useNow } from '../show/service-clock.ts';
import { momentText } from '../show/texts.ts';
import { AgentSteps } from './agent-steps.tsx';
import { LastGoodRun, Outcome, PhasesChart } from './outcome.tsx';
import { phasesOf } from './phases.ts';
import { RunActions } from './run-actions.tsx';
import { RunLog } from './run-log.tsx';
import { RunSummary } from './run-summary.tsx';
import { Timeline } from './timeline.tsx';
import { useWatchedRun } from './watched-run.ts';

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
            <Outcome run={shown} phases={phases(shown)} />
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
