import { Alert, Link } from '@cloudscape-design/components';
import { type Client, items, type Schemas } from 'computation-management-client';
import { describeDifferences } from 'computation-management-words';
import { useDomain } from '../access/console-context.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useLoaded } from '../loading/use-loaded.ts';
import { addressOf } from '../routing/places.ts';
import { Time } from '../show/time.tsx';

type Run = Schemas['Run'];

/** What differs between a run that failed and the last one before it that completed. */
export function LastGoodRun({ run }: { run: Run }) {
  const { client, domain } = useDomain();
  const { computation_id: id } = run;
  const loaded = useLoaded(run.id, async (signal) => await compareWithGood(client, run, signal));
  const { value, problem } = loaded;
  if (problem !== undefined) return <ProblemAlert problem={problem} retry={loaded.reload} isRetrying={loaded.isLoading} />;
  if (value === undefined) return null;
  if (value === null) {
    return (
      <Alert type="info" header="No earlier run has completed">
        There is nothing to compare this run with.
      </Alert>
    );
  }
  const { good, differences } = value;
  return (
    <Alert
      type="info"
      header={
        differences.length === 0
          ? 'Nothing differs from the last run that completed'
          : 'What differs from the last run that completed'
      }
    >
      {differences.length === 0
        ? 'The files, keys, configuration and CVM are the same as in '
        : 'Compared are the manifest, the configuration and the CVM of '}
      <Link href={addressOf({ screen: 'run', domain, id, run: good.id })}>
        the run of <Time at={good.started_at} />
      </Link>
      .
      {differences.length > 0 && (
        <ul>
          {differences.map((sentence) => (
            <li key={sentence} className="long-words">
              <bdi>{sentence}</bdi>
            </li>
          ))}
        </ul>
      )}
    </Alert>
  );
}

/** Returns null if no run has completed before this one. */
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
