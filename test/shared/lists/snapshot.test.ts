import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/clock.ts';
import { Deadline } from '../../../shared/deadline.ts';
import { indexedLists } from '../../../shared/lists/indexed-list.ts';
import { withSnapshot } from '../../../shared/lists/snapshot.ts';
import { NodeGoneError } from '../../../shared/lists/stored-nodes.ts';
import type { Table } from '../../../shared/table/table.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { skippingClock } from '../../support/skipping-clock.ts';

const embedded = sharedByTests(startEmbeddedTable);
let table: Table;
beforeAll(() => {
  const clock = skippingClock();
  table = { ...embedded.table, deadline: () => new Deadline(60_000, clock) };
});

const { index } = indexedLists.assets('d1');
const gone = new NodeGoneError('The node is gone.');

/** Reads from a snapshot, and fails the first times. @returns how often it has read */
async function readsWhile(from: Table, failures: number, failure: Error): Promise<number> {
  let reads = 0;
  return await withSnapshot(from, index, () => {
    reads += 1;
    return reads <= failures ? Promise.reject(failure) : Promise.resolve(reads);
  });
}

describe('a read of lists', () => {
  it('begins again, up to five times, when a fold has deleted a node that it needs', async () => {
    expect(await readsWhile(table, 1, gone)).toBe(2);
    expect(await readsWhile(table, 5, gone)).toBe(6);
    await expect(readsWhile(table, 6, gone)).rejects.toBe(gone);
  });

  it('begins again when it took longer than two seconds, by a clock that nobody sets', async () => {
    let [steady, reads] = [0, 0];
    const clock = { now: () => 0, steady: () => steady, wait: () => Promise.resolve() };
    const readFor = (milliseconds: number) =>
      withSnapshot({ ...table, clock }, index, () => {
        reads += 1;
        if (reads === 1) steady += milliseconds;
        return Promise.resolve(reads);
      });
    expect(await readFor(2_001)).toBe(2);
    reads = 0;
    expect(await readFor(2_000)).toBe(1);
  });

  it('does not begin again after another failure', async () => {
    const failure = new Error('It is damaged.');
    await expect(readsWhile(table, 1, failure)).rejects.toBe(failure);
  });

  it('names the reason when there is no time to begin again', async () => {
    const busy = { ...table, deadline: () => new Deadline(60_000, systemClock, { retryTime: 0 }) };
    await expect(readsWhile(busy, 1, gone)).rejects.toMatchObject({ code: 'unavailable', cause: gone });
  });
});
