import { setTimeout as delay } from 'node:timers/promises';
import type { AcceptClient } from './accept-client.ts';
import { retryWhileLimited } from './retry-while-limited.ts';
import { percentile, type Finding } from './finding.ts';

const clients = 8;

const what = `${clients} clients change one computation`;
const documented = 'each change is made once; conflicts are retried for 3 s, then 503';

/** Changes one computation from several clients at the same time, and finds each change in its journal. */
export async function checkConflicts(client: AcceptClient, changesOfEach: number): Promise<Finding> {
  const created = await retryWhileLimited(() => client.call('createComputation', { body: { name: 'accept' } }));
  if (!created.body) return { what, documented, measured: `no computation was made: ${created.status}`, holds: false };
  const { id } = created.body;
  const answers: { status: number; milliseconds: number }[] = [];
  const change = async (_: unknown, number: number) => {
    for (let count = 0; count < changesOfEach; count++) {
      const answer = await client.call('updateComputation', { id, body: { name: `accept ${number}-${count}` } });
      answers.push(answer);
      if (answer.status === 429) await delay(1_000);
    }
  };
  await Promise.all(Array.from({ length: clients }, change));
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  const [made, busy] = [count(200), count(503)];
  const others = answers.length - made - busy - count(429);
  const events = await retryWhileLimited(() => client.call('listEvents', { id, event_type: 'updated', limit: 1 }));
  if (!events.body) return { what, documented, measured: `the journal was not read: ${events.status}`, holds: false };
  const recorded = events.body.total;
  const p95 = Math.round(
    percentile(
      answers.map(({ milliseconds }) => milliseconds),
      0.95,
    ),
  );
  return {
    what,
    documented,
    measured: `${made} made, ${recorded} in the journal, ${busy} answered 503, ${others} others, p95 ${p95} ms`,
    holds: others === 0 && recorded >= made && recorded <= made + busy,
  };
}
