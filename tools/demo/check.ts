import type { Schemas } from 'computation-management-client';
import type { Cast, InputFile } from './cast.ts';
import { ok as ensure } from 'node:assert';
import type { Inputs } from './prepare.ts';
import type { Timeline } from './timeline.ts';

/** Checks that the manifest of a run contains the hashes of the algorithm and the dataset. */
export async function checkManifest(
  { step }: Timeline,
  { consumer }: Cast,
  { computationId, runId }: { computationId: string; runId: string },
  { algorithm, dataset }: Inputs,
): Promise<void> {
  let manifest: Schemas['Manifest'] | undefined;
  await step('consumer', 'downloads the manifest of the run', async () => {
    manifest = await consumer.getManifest({ id: computationId, run: runId });
    return `algorithm, datasets: ${manifest.datasets.length}, result consumers: ${manifest.result_consumers.length}`;
  });
  const compare = ({ name, sha3 }: InputFile, hash: number[] | undefined) =>
    step('consumer', `hashes ${name}`, async () => {
      ensure(sha3.equals(Buffer.from(hash ?? [])), `the manifest has another hash for ${name}`);
      return `SHA3-256 ${sha3.toString('hex').slice(0, 16)}…, as in the manifest`;
    });
  await compare(algorithm, manifest?.algorithm.hash);
  await compare(dataset, manifest?.datasets.find(({ filename }) => filename === dataset.name)?.hash);
}

/** Checks the contents of the service's lists and statistics after the runs of the demo. */
export async function review({ step }: Timeline, { consumer }: Cast, computationId: string): Promise<void> {
  await step('consumer', 'lists the computations', async () => {
    const { computations, total } = await consumer.listComputations();
    const found = computations.find(({ id }) => id === computationId);
    ensure(found !== undefined, 'the computation is not in the list');
    return `${total} in the domain; this one is ${found.status}`;
  });
  await step('consumer', 'lists the runs', async () => {
    const { runs, total } = await consumer.listRuns();
    const own = runs.filter((run) => run.computation_id === computationId).map((run) => `${run.cvm_id} ${run.status}`);
    ensure(own.length === 2, `the list has ${own.length} runs of this computation, not 2`);
    return `${total}: ${own.join(', ')}`;
  });
  await step('consumer', 'counts the events', async () => {
    const { total } = await consumer.listEvents({ id: computationId, limit: 1 });
    const status = await consumer.getStatus({ id: computationId });
    return `${total}, the latest ${status.event_type} (${status.status})`;
  });
  await step('consumer', "reads today's statistics", async () => {
    const { comp_stats } = await consumer.getStatistics({ days: 1 });
    ensure(
      comp_stats.some(({ status }) => status === 'completed'),
      'the statistics count no completed computation',
    );
    return comp_stats.map(({ status, count }) => `${count} ${status}`).join(', ');
  });
}
