import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createClient } from '../../../../packages/client/index.ts';
import { untilHashed } from '../../../../packages/client/transfer/until-hashed.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Asks a service that answers by these statuses, one every two minutes, then by the asset with its hash. */
async function askAt(statuses: number[], options: Partial<Parameters<typeof untilHashed>[1]> = {}) {
  let asked = 0;
  const client = createClient({
    baseUrl: 'https://api.example.com',
    domain: 'd1',
    token: 'x',
    retry: { attempts: 1 },
    fetch: async () => {
      const status = statuses[asked++] ?? 200;
      const state = asked > statuses.length ? 'ready' : 'pending';
      await new Promise((resolve) => setTimeout(resolve, 120_000));
      return Response.json(
        status === 200 ? { id: 'a1', file_name: 'large.bin', state } : { code: 'unavailable', detail: 'Out.' },
        { status },
      );
    },
  });
  const waited = untilHashed(client, { id: 'a1', ...options }).catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return { outcome: await waited, asked };
}

it('the hash of content that has arrived is waited for, also during an outage of the service', async () => {
  expect(await askAt([200, 503, 500, 429, 503, 200, 503])).toMatchObject({ outcome: { state: 'ready' }, asked: 8 });
});

it('the wait for a hash ends after five failures and five minutes, or at once if the service refuses', async () => {
  expect(await askAt(Array.from({ length: 9 }, () => 503))).toMatchObject({ outcome: { detail: 'Out.' }, asked: 5 });
  expect(await askAt([404])).toMatchObject({ outcome: { status: 404 }, asked: 1 });
});

it.each([
  { size: 1, minutes: 5, asked: 3 },
  { size: 2.5 * 1_024 ** 3, minutes: 10, asked: 5 },
  { size: undefined, minutes: 15, asked: 8 },
])('the wait for a hash that never comes ends after $minutes minutes for $size bytes', async ({ size, minutes, asked }) => {
  const onPending = vi.fn();
  expect(
    await askAt(
      Array.from({ length: 100 }, () => 200),
      { size, onPending },
    ),
  ).toMatchObject({
    outcome: {
      code: 'unavailable',
      detail: `large.bin has arrived, but the service has not hashed it within ${minutes} minutes. It may do so later.`,
    },
    asked,
  });
  expect(onPending).toHaveBeenCalledTimes(asked - 1);
});
