import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { waitFor, type Wait } from '../../../shared/waits/wait.ts';
import { aWait } from '../../support/a-wait.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { standingClock } from '../../support/standing-clock.ts';

const embedded = sharedByTests(startEmbeddedTable);

const ownWait = (fields: Partial<Wait> = {}) => aWait({ endpoint: `tests/${randomUUID()}`, ...fields });

/** Counts the looks, and notes the second of each. The look with the number `enough` sees enough. */
function lookout(wait: Wait, enough = Infinity) {
  const startedAt = wait.clock.now();
  const seconds: number[] = [];
  return {
    seconds,
    wait: () =>
      waitFor<number>(
        embedded.table,
        wait,
        async (before = 0) => {
          seconds.push(Math.floor((wait.clock.now() - startedAt) / 1000));
          return before + 1;
        },
        (seen) => seen >= enough,
      ),
  };
}

/** A clock whose waits never end. `isWaiting` resolves when the first has begun. */
function stillClock() {
  const { promise: isWaiting, resolve } = Promise.withResolvers<undefined>();
  const wait = () => {
    resolve(undefined);
    return new Promise<void>(() => {});
  };
  return { ...standingClock(), wait, isWaiting };
}

describe('waitFor', () => {
  it('returns at once if the first read is enough, even without a free slot', async () => {
    const { seconds, wait } = lookout(ownWait({ perStage: 0 }), 1);
    expect([await wait(), seconds]).toEqual([1, [0]]);
  });

  it('reads once a second, and returns as soon as a read is enough', async () => {
    const { seconds, wait } = lookout(ownWait(), 4);
    expect([await wait(), seconds]).toEqual([4, [0, 1, 2, 3]]);
  });

  it('reads 21 times within 20 seconds, and returns the last read', async () => {
    const { seconds, wait } = lookout(ownWait());
    expect(await wait()).toBe(21);
    expect([seconds[0], seconds.at(-1)]).toEqual([0, 20]);
  });

  it('looks once if the time is already up', async () => {
    const clock = standingClock();
    const { wait } = lookout(ownWait({ clock, endsAt: clock.now() }));
    expect(await wait()).toBe(1);
  });

  it('ends during a pause when the service is about to stop', async () => {
    const stopping = new AbortController();
    const { wait } = lookout(ownWait({ clock: stillClock(), draining: stopping.signal }));
    const waiting = wait();
    stopping.abort();
    expect(await waiting).toBe(1);
  });

  it('looks once if the service is already stopping', async () => {
    const { wait } = lookout(ownWait({ draining: AbortSignal.abort() }));
    expect(await wait()).toBe(1);
  });

  it('looks once if all slots are taken, and waits again when one is free', async () => {
    const [stopping, endpoint] = [new AbortController(), `tests/${randomUUID()}`];
    const slots = { endpoint, perStage: 1, perDomain: 1 };
    const clock = stillClock();
    const waiting = lookout(aWait({ ...slots, clock, draining: stopping.signal })).wait();
    await clock.isWaiting;
    expect(await lookout(aWait(slots)).wait()).toBe(1);
    stopping.abort();
    await waiting;
    expect(await lookout(aWait(slots)).wait()).toBe(21);
  });

  it('frees its slot if a look fails', async () => {
    const slots = { endpoint: `tests/${randomUUID()}`, perStage: 1, perDomain: 1 };
    const failing = waitFor<boolean>(
      embedded.table,
      aWait(slots),
      async (before) => {
        if (before) throw new Error('The table is down.');
        return true;
      },
      () => false,
    );
    await expect(failing).rejects.toThrow('The table is down.');
    expect(await lookout(aWait(slots)).wait()).toBe(21);
  });
});
