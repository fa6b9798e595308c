import { expect, it, vi } from 'vitest';
import { importHandler } from '../../local/functions/local-functions.ts';
import { startStack } from '../../local/stack.ts';
import { recordCalls } from '../support/recorded-calls.ts';
import { untilTestEnds } from '../support/patience.ts';
import { callAs } from '../support/ready-computation.ts';
import { repeating } from '../support/repeating-call.ts';

it('continues a deletion that was not finished at once, without a schedule', async () => {
  const calls = recordCalls();
  const purges: unknown[] = [];
  const stack = await startStack({
    port: 0,
    simulator: false,
    schedules: false,
    load: async (name) => {
      if (name !== 'maintenance/purge') return await calls.load(name);
      const purge = await importHandler(name);
      return async (event, context) => purges.push(await purge(event, context));
    },
  });
  try {
    calls.listen();
    const call = callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator']));
    const { body } = await repeating(call)('POST', '/d1/computations', { name: 'Iris' });
    const held = calls.hold('computations/delete-computation', 'dynamodb:Query');
    const answer = call('DELETE', `/d1/computations/${String(body['id'])}`);
    await held.reached;
    held.letGo(new Error('The time is over.'));
    expect((await answer).status).toBe(204);
    await vi.waitFor(() => expect(purges).toEqual([{ purged: 1, waiting: 0 }]), untilTestEnds);
  } finally {
    await stack.stop();
  }
});
