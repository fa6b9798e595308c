import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { groupOfOwner, indexedLists } from '../../../shared/lists/indexed-list.ts';
import { logChange } from '../../../shared/lists/log.ts';
import { selectMembers } from '../../../shared/lists/select-members.ts';
import { withSnapshot } from '../../../shared/lists/snapshot.ts';
import { NodeGoneError } from '../../../shared/lists/stored-nodes.ts';
import { keyToWrite, listKeys } from '../../../shared/table/keys.ts';
import type { Table } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { amount } from '../../support/amounts.ts';
import { startAwsTable, type AwsTable } from '../../support/aws-dynamodb/aws-dynamodb.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { patientDeadline, tableThrough } from '../../support/embedded-table.ts';

const changesOfEach = amount({ sample: 16, full: 60 });
const list = indexedLists.computations('d1');
const states = [1, 2, 3, 4];
const owners = ['ann', 'bob'];
const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const random = seededRandom(seed);
const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;

/** Moves in steps, also while reads and folds are under way. */
let time = Date.parse('2026-01-01T00:00:00Z');
let aws: AwsTable;
let table: Table;
beforeAll(async () => {
  aws = await startAwsTable({ transactionInMilliseconds: 8, betweenReadsInMilliseconds: 2, seed });
  const clock = { now: () => time, wait: (milliseconds: number) => delay(milliseconds) };
  table = { ...aws.table, deadline: patientDeadline, clock };
});
afterAll(() => aws.stop());

/** The states of one row over time. `begun` and `done` count the changes that were sent and acknowledged. */
interface Row {
  number: number;
  owner: string;
  states: number[];
  begun: number;
  done: number;
}

async function change(row: Row, now: number): Promise<void> {
  const before = row.states.at(-1) ?? 0;
  row.states.push(now);
  row.begun += 1;
  const Key = keyToWrite(listKeys.row(list.rows, row.number));
  const member = { list: list.tree, number: row.number, before, now, group: groupOfOwner(row.owner) };
  await transact(table, [
    now > 0 ? { put: { Item: { ...Key, state: now } } } : { delete: { Key } },
    logChange(list.index, row.number, { version: row.begun, changes: [member] }),
  ]);
  row.done += 1;
}

/** Throws before or after one of the calls through it, as if its process had died. */
function dyingTable(after: number): Table {
  let calls = 0;
  return tableThrough(table, async (send) => {
    calls += 1;
    if (calls > after) throw new Error('died');
    const answer = await send();
    if (calls === after && random() < 0.5) throw new Error('died');
    return answer;
  });
}

/** Waits before each call, so that folds come between the calls of a read. */
function slowTable(): Table {
  return tableThrough(table, async (send) => {
    await delay(random() ** 3 * 400);
    return send();
  });
}

/** Reads all rows of the list and of each owner, by their states, from one snapshot. */
function readAll(from: Table) {
  return withSnapshot(from, list.index, async (snapshot) => {
    const whole = { offset: 0, limit: 1_000 };
    const view = await snapshot.view('c');
    const ofOwners = await snapshot.view('o');
    return {
      all: await selectMembers(view, { group: '', states: new Set(states) }, whole),
      byState: await Promise.all(states.map((state) => selectMembers(view, { group: '', states: new Set([state]) }, whole))),
      byOwner: await Promise.all(
        owners.map((owner) => selectMembers(ofOwners, { group: groupOfOwner(owner), states: new Set(states) }, whole)),
      ),
      ofTotals: (snapshot.head.totals['c'] ?? []).slice(1),
    };
  });
}

/** A read that is slower than the clock of the test finds its nodes deleted at each attempt. Its caller would try again. */
function ifOvertaken(error: unknown): undefined {
  if (!(error instanceof NodeGoneError)) throw error;
}

describe('lists read while changes and folds are under way', () => {
  it(`contain every acknowledged change, no change that has not begun, and each row once (TEST_SEED=${seed})`, async () => {
    const rows: Row[] = Array.from({ length: 48 }, (_, index) => {
      return { number: index + 1, owner: pick(owners), states: [0], begun: 0, done: 0 };
    });
    let isOver = false;
    let reads = 0;
    const write = async (mine: Row[]) => {
      for (let count = 0; count < changesOfEach || reads <= 20; count++) {
        const row = pick(mine);
        const now = pick([0, ...states].filter((state) => state !== row.states.at(-1)));
        await change(row, now);
      }
    };
    const fold = async () => {
      while (!isOver) {
        const dies = random() < 0.3;
        await foldChanges(dies ? dyingTable(1 + Math.floor(random() * 12)) : table, list.index, 1).catch((error: unknown) => {
          if (!(dies && error instanceof Error && error.message === 'died')) throw error;
        });
        time += Math.floor(random() * 1_500);
      }
    };
    const read = async (tableOfRead: () => Table) => {
      while (!isOver) {
        const done = rows.map((row) => row.done);
        const answer = await readAll(tableOfRead()).catch(ifOvertaken);
        if (!answer) continue;
        reads += 1;
        const { all, byState, byOwner } = answer;
        const seen = new Map(byState.flatMap(({ numbers }, at) => numbers.map((number) => [number, states[at] ?? 0] as const)));
        expect(byState.reduce((sum, { total }) => sum + total, 0)).toBe(all.total);
        expect(byState.flatMap(({ numbers }) => numbers).sort((a, b) => b - a)).toEqual(all.numbers);
        expect(byOwner.flatMap(({ numbers }) => numbers).sort((a, b) => b - a)).toEqual(all.numbers);
        expect(byState.map(({ total }) => total)).toEqual(byState.map(({ numbers }) => numbers.length));
        for (const [index, row] of rows.entries()) {
          // The acknowledged state when the read began, or one of those that were begun since.
          const possible = row.states.slice(done[index], row.begun + 1);
          expect(possible, `row ${row.number}`).toContain(seen.get(row.number) ?? 0);
        }
      }
    };
    const writers = Array.from({ length: 6 }, (_, index) => write(rows.filter(({ number }) => number % 6 === index)));
    const sharing = slowTable();
    const readers = Array.from({ length: 16 }, (_, index) => read(index % 2 === 0 ? slowTable : () => sharing));
    const others = [fold(), fold(), ...readers];
    await Promise.all([Promise.all(writers).finally(() => (isOver = true)), ...others]);

    // Everything is folded, and nothing that folds have left behind stays.
    for (let round = 0; round < 8; round++) {
      await foldChanges(table, list.index, 1);
      time += 5_000;
    }
    const { all, byState, ofTotals } = await readAll(table);
    expect(all.numbers).toEqual(
      rows
        .filter((row) => row.states.at(-1))
        .map((row) => row.number)
        .reverse(),
    );
    expect(byState.map(({ total }) => total)).toEqual(ofTotals.slice(0, 4));
  });
});
