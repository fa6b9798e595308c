import { Alert } from '@cloudscape-design/components';
import { type Client, items, type Schemas } from 'computation-management-client';
import { describeDifferences } from 'computation-management-words';
import type { ReactNode } from 'react';
import { GoTo } from '../frame/index.ts';
import { useDomain } from '../access/index.ts';
import { ProblemAlert, useLoaded } from '../loading/index.ts';
import { Bullets, durationText, Name, StatusIndicator, Time } from '../show/index.ts';
import type { Phase } from './phases.ts';
import { repairOf } from './repair.ts';

type Run = Schemas['Run'];

/** Shows what differs between a failed run and the last run of the computation before it that completed. */
export function LastGoodRun({ run }: { run: Run }) {
  const { client } = useDomain();
  const { computation_id: id } = run;
  const loaded = useLoaded(run.id, async (signal) => await compareWithGood(client, run, signal));
  const { value, problem } = loaded;
  if (problem !== undefined) return <ProblemAlert problem={problem} retry={loaded.reload} isRetrying={loaded.isLoading} />;
  if (!value) return null;
  const { good, differences } = value;
  const isSame = differences.length === 0;
  return (
    <Alert type="info" header={`${isSame ? 'Nothing' : 'What'} differs from the last run that completed`}>
      {isSame
        ? 'The files, keys, configuration and CVM are the same as in '
        : 'Compared are the manifest, the configuration and the CVM of '}
      <GoTo place={{ screen: 'run', id, run: good.id }}>
        the run of <Time at={good.started_at} />
      </GoTo>
      .
      {!isSame && (
        <Bullets
          className="long-words"
          of={differences.map((sentence) => (
            <bdi key={sentence}>{sentence}</bdi>
          ))}
        />
      )}
    </Alert>
  );
}

/** Compares a run with the last run of the computation before it that completed. Returns null if there is no such run. */
async function compareWithGood(
  client: Client,
  run: Run,
  signal: AbortSignal,
): Promise<{ good: Run; differences: string[] } | null> {
  const { computation_id: id } = run;
  for await (const good of items(client, 'listRuns', { computation_id: id, status: 'completed', signal })) {
    if (good.started_at >= run.started_at) continue;
    const isSame = run.manifest_digest === good.manifest_digest && run.configuration_digest === good.configuration_digest;
    const coveredBy = async ({ id: of, cvm_id }: Run) => {
      if (isSame) return { cvm_id, manifest: { datasets: [] }, configuration: {} };
      const { manifest, configuration } = (await client.getEvidence({ id, run: of, signal })).statement;
      return { cvm_id, manifest, configuration };
    };
    const [earlier, later] = await Promise.all([coveredBy(good), coveredBy(run)]);
    return { good, differences: describeDifferences(earlier, later) };
  }
  return null;
}

const marks = { done: 'success', active: 'in-progress', failed: 'error' } as const;

/** Shows the phases of a run on one axis of time. */
export function PhasesChart({ phases }: { phases: readonly Phase[] }) {
  const begin = phases[0]?.from ?? 0;
  const whole = Math.max(1, (phases.at(-1)?.to ?? 0) - begin);
  const share = (milliseconds: number) => `${(100 * milliseconds) / whole}%`;
  return (
    <ol className="phases" aria-label="Phases of the run">
      {phases.map(({ name, from, to, state }) => (
        <li key={`${name} ${from}`}>
          <StatusIndicator type={marks[state]}>{name}</StatusIndicator>
          <span className="phase-track" aria-hidden="true">
            <span
              className={`phase-bar ${state}`}
              style={{ insetInlineStart: share(from - begin), inlineSize: share(to - from) }}
            />
          </span>
          <span>{to - from < 1_000 ? 'under 1 s' : durationText(to - from)}</span>
        </li>
      ))}
    </ol>
  );
}

interface OutcomeProps {
  run: Run;
  phases: Phase[];
  refusal?: string | undefined;
  children?: ReactNode;
}

/**
 * Shows how a run ended, and why. Shows nothing while the run goes on.
 * @param refusal why the key of a file was refused, if the run failed for this reason
 * @param children what follows the likely repair of a failed run whose log may tell more
 */
export function Outcome({ run, phases, refusal, children }: OutcomeProps) {
  const { status, reason, ended_at, started_at } = run;
  if (status === 'failed') {
    const phase = phases.at(-1)?.name ?? '';
    const { what, repair, isInLog } = repairOf(run, phase, refusal);
    const took = durationText(Date.parse(ended_at ?? started_at) - Date.parse(started_at));
    return (
      <Alert type="error" header={<>The run failed: {what === reason ? <Name of={what} /> : what}</>}>
        It failed after {took}, in the phase <strong>{phase}</strong>. {repair} {isInLog && children}
      </Alert>
    );
  }
  if (ended_at === null) return null;
  const isCompleted = status === 'completed';
  const next = run.result
    ? 'Its result goes to the reviewers first.'
    : 'The results are in the CVM. Result consumers fetch them there with their keys.';
  return (
    <Alert type={isCompleted ? 'success' : 'warning'} header={isCompleted ? 'The run completed' : 'The run was cancelled'}>
      {reason !== null ? <Name of={reason} /> : isCompleted ? next : 'No reason was given.'}
    </Alert>
  );
}
