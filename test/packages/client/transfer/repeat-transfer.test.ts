import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { repeatTransfer } from '../../../../packages/client/transfer/repeat-transfer.ts';
import { ServiceProblem } from '../../../../packages/client/calls/service-problem.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const broken = () =>
  new TypeError('fetch failed', { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) });

/** Repeats a transfer that fails until this many milliseconds have passed. Returns how it ended. */
async function repeatedFor(outageInMilliseconds: number, fail: () => Error = broken) {
  const startedAt = Date.now();
  const cuts: string[] = [];
  const repeated = repeatTransfer(
    async () => {
      if (Date.now() - startedAt < outageInMilliseconds) throw fail();
      return 'done';
    },
    { signal: undefined, furthest: () => 0, onCut: ({ error }) => void cuts.push(error.message) },
  ).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(20 * 60_000);
  return { outcome: await repeated, cuts };
}

describe('a transfer that is cut off', () => {
  it('goes on after an outage of four minutes, and says why it was cut', async () => {
    const { outcome, cuts } = await repeatedFor(240_000);
    expect(outcome).toBe('done');
    expect(new Set(cuts)).toEqual(new Set(['read ECONNRESET']));
  });

  it('gives up after five minutes that brought nothing', async () => {
    const { outcome } = await repeatedFor(Infinity);
    expect(outcome).toMatchObject({ name: 'CutOffError', message: 'read ECONNRESET' });
  });

  it('goes on when the service cannot be reached for a new link, and ends when it refuses', async () => {
    const problem = (status: number) => () => new ServiceProblem({ status, code: 'unavailable', detail: 'x', request: 'GET /' });
    expect((await repeatedFor(60_000, problem(0))).outcome).toBe('done');
    expect((await repeatedFor(60_000, problem(404))).outcome).toMatchObject({ name: 'ServiceProblem', status: 404 });
  });
});
