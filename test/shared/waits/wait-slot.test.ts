import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { takeWaitSlot, type FreeSlot } from '../../../shared/waits/wait-slot.ts';
import type { Wait } from '../../../shared/waits/wait.ts';
import { aWait } from '../../support/a-wait.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { standingClock } from '../../support/standing-clock.ts';

const embedded = sharedByTests(startEmbeddedTable);

/** Waits of one endpoint that no other test has. */
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
    const clock = standingClock();
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
