import type { Cast } from './cast.ts';
import { ensure } from './ensure.ts';
import type { Timeline } from './timeline.ts';

/** Checks what the service's lists and statistics contain after the runs. */
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
