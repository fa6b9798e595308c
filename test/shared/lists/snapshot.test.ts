import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { groupOfComputation, indexedLists } from '../../../shared/lists/indexed-list.ts';
import { lastVersion, logChange, nameOfResource } from '../../../shared/lists/log.ts';
import { withSnapshot } from '../../../shared/lists/snapshot.ts';
import { NodeGoneError } from '../../../shared/lists/stored-nodes.ts';
import type { Table } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable, tableThrough } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { testClock } from '../../support/test-clock.ts';

const embedded = sharedByTests(startEmbeddedTable);
let table: Table;
beforeAll(() => {
  const clock = testClock({ skipsWaits: true });
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

/** The same table, which counts the items that are read one by one. */
function countedGets(from: Table): { table: Table; count: () => number } {
  let gets = 0;
  const table = tableThrough(from, (send, command) => {
    gets += Number(command instanceof GetCommand);
    return send();
  });
  return { table, count: () => gets };
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

  it('begins again for a purged run whose computation is gone from the log, until a fold has taken the run', async () => {
    let time = Date.parse('2026-01-01T00:00:00Z');
    const clocked = { ...table, clock: { now: () => time, wait: () => Promise.resolve() } };
    const { index: ofDomain } = indexedLists.runs('d1');
    const ended = { list: 'r', number: 3, before: 0, now: 4, group: groupOfComputation(2) };
    await transact(table, [logChange(ofDomain, 2, { version: 3, changes: [ended] })]);
    // Folded, deleted from the log, and forgotten by the head.
    for (let fold = 0; fold < 3; fold++) {
      await foldChanges(clocked, ofDomain, 1);
      time += 5_000;
    }
    const after = { name: nameOfResource(2), version: 3 };
    const purged = { version: lastVersion, changes: [{ ...ended, before: 4, now: 0 }], after };
    await transact(table, [logChange(ofDomain, 3, purged, 'run-3')]);
    const headsRead = async () => {
      const heads = countedGets(clocked);
      await withSnapshot(heads.table, ofDomain, () => Promise.resolve());
      return heads.count();
    };
    expect(await headsRead()).toBe(2);
    await foldChanges(clocked, ofDomain, 1);
    expect(await headsRead()).toBe(1);
  });

  it('names the reason when there is no time to begin again', async () => {
    const busy = { ...table, deadline: () => new Deadline(60_000, systemClock, { retryTime: 0 }) };
    await expect(readsWhile(busy, 1, gone)).rejects.toMatchObject({ code: 'unavailable', cause: gone });
  });
});
