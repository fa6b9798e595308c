import type { Event } from '../shared/events/event.ts';
import type { Run } from '../shared/runs/run.ts';
import type { StatisticsEntry } from '../shared/statistics/statistics-entry.ts';
import type { Cast } from './cast.ts';
import { ensure } from './ensure.ts';
import type { Timeline } from './timeline.ts';

/** What the service's lists say of it all afterwards. */
export async function review({ step }: Timeline, { carl }: Cast, computationId: string): Promise<void> {
  await step('carl', 'lists the computations', async () => {
    const { computations, total } = await carl.call<{ computations: { id: string; status: string }[]; total: number }>(
      'GET',
      '/computations',
    );
    const found = computations.find(({ id }) => id === computationId);
    ensure(found !== undefined, 'the computation is not in the list');
    return `${total} in the domain; this one is ${found.status}`;
  });
  await step('carl', 'lists the runs', async () => {
    const { runs, total } = await carl.call<{ runs: Run[]; total: number }>('GET', '/computations/runs');
    const own = runs.filter((run) => run.computation_id === computationId).map((run) => `${run.cvm_id} ${run.status}`);
    ensure(own.length === 2, `the list has ${own.length} runs of this computation, not 2`);
    return `${total}: ${own.join(', ')}`;
  });
  await step('carl', 'counts the events', async () => {
    const { total } = await carl.call<{ total: number }>('GET', `/computations/${computationId}/events?limit=1`);
    const status = await carl.call<Event>('GET', `/computations/${computationId}/status`);
    return `${total}, the latest ${status.event_type} (${status.status})`;
  });
  await step('carl', "reads today's statistics", async () => {
    const { comp_stats } = await carl.call<{ comp_stats: StatisticsEntry[] }>('GET', '/computations/statistics?days=1');
    ensure(
      comp_stats.some(({ status }) => status === 'completed'),
      'the statistics count no completed computation',
    );
    return comp_stats.map(({ status, count }) => `${count} ${status}`).join(', ');
  });
}
