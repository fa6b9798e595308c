import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { waitFor, type Wait, takeWaitSlot, type FreeSlot } from '../../../shared/http/wait.ts';
import { aWait } from '../../support/a-wait.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { testClock } from '../../support/test-clock.ts';

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));

const ownWait = (fields: Partial<Wait> = {}) => aWait({ endpoint: `tests/${randomUUID()}`, ...fields });

/** Makes a wait that counts its looks and notes the second of each. The look with the number `enough` sees enough. */
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

/** Makes a clock whose waits never end. `isWaiting` resolves when the first wait has begun. */
function stillClock() {
  const { promise: isWaiting, resolve } = Promise.withResolvers<undefined>();
  const wait = () => {
    resolve(undefined);
    return new Promise<void>(() => {});
  };
  return { ...testClock({ speed: 0, skipsWaits: true }), wait, isWaiting };
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
    const clock = testClock({ speed: 0, skipsWaits: true });
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

/** Makes waits of one endpoint that no other test has. */
function waitsOf(caps: Pick<Wait, 'perStage' | 'perDomain'>) {
  const endpoint = `tests/${randomUUID()}`;
  return (fields: Partial<Wait> = {}) => aWait({ endpoint, ...caps, ...fields });
}

async function takeInTurn(wait: Wait, times: number): Promise<FreeSlot[]> {
  const taken: FreeSlot[] = [];
  for (let time = 0; time < times; time++) {
    const free = await takeWaitSlot(embedded.table, wait);
    if (free) taken.push(free);
  }
  return taken;
}

describe('takeWaitSlot', () => {
  it.each([
    ['all slots of the domain', { perStage: 100, perDomain: 20 }, 20],
    ['all slots of the stage if the domain may have more', { perStage: 5, perDomain: 9 }, 5],
    ['no slot if there is none', { perStage: 0, perDomain: 9 }, 0],
  ])('gives waits that follow each other %s, and no more', async (_what, caps, most) => {
    const wait = waitsOf(caps);
    for (const domain of ['d1', 'd2', 'a-domain-with-another-first-slot']) {
      const taken = await takeInTurn(wait({ domain }), most + 3);
      expect(taken).toHaveLength(most);
      for (const free of taken) await free();
    }
  });

  it('never exceeds the cap of a domain or of the stage with 60 waits of three domains at once', async () => {
    const wait = waitsOf({ perStage: 10, perDomain: 6 });
    const domains = Array.from({ length: 60 }, (_, index) => `d${index % 3}`);
    const taken = await Promise.all(domains.map((domain) => takeWaitSlot(embedded.table, wait({ domain }))));
    const holding = domains.filter((_, index) => taken[index]);
    expect(holding.length).toBeGreaterThan(5);
    expect(holding.length).toBeLessThanOrEqual(10);
    for (const of of new Set(domains)) expect(holding.filter((domain) => domain === of).length).toBeLessThanOrEqual(6);
  });

  it('gives a slot that was freed to another wait', async () => {
    const wait = waitsOf({ perStage: 1, perDomain: 1 });
    const [free] = await takeInTurn(wait(), 1);
    expect(await takeWaitSlot(embedded.table, wait())).toBeUndefined();
    await free?.();
    expect(await takeWaitSlot(embedded.table, wait())).toBeDefined();
  });

  it('gives the slot of a wait that never freed it to another wait 10 seconds after its end, and ignores a late release', async () => {
    const clock = testClock({ speed: 0, skipsWaits: true });
    const wait = waitsOf({ perStage: 1, perDomain: 1 });
    const at = (fields: Partial<Wait> = {}) => wait({ clock, endsAt: clock.now() + 20_000, ...fields });
    const [release] = await takeInTurn(at(), 1);
    await clock.wait(29_000);
    expect(await takeWaitSlot(embedded.table, at())).toBeUndefined();
    await clock.wait(1_001);
    expect(await takeWaitSlot(embedded.table, at())).toBeDefined();
    await release?.();
    expect(await takeWaitSlot(embedded.table, at())).toBeUndefined();
  });

  it('gives each endpoint slots of its own', async () => {
    const [one, other] = [waitsOf({ perStage: 1, perDomain: 1 }), waitsOf({ perStage: 1, perDomain: 1 })];
    expect([await takeWaitSlot(embedded.table, one()), await takeWaitSlot(embedded.table, other())]).not.toContain(undefined);
  });
});
