import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { groupOfComputation, groupOfOwner, indexedLists } from '../../../shared/lists/indexed-list.ts';
import { lastVersion, logChange, nameOfResource } from '../../../shared/lists/log.ts';
import { readPage } from '../../../shared/lists/read-page.ts';
import { indexKeys, keyToWrite, listKeys } from '../../../shared/table/keys.ts';
import type { Table } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { oneOf } from '../../support/amounts.ts';
import { type EmbeddedTable, startEmbeddedTable, tableThrough } from '../../support/embedded-table.ts';

let embedded: EmbeddedTable;
let table: Table;
let time = Date.parse('2026-01-01T00:00:00Z');
beforeAll(async () => {
  embedded = await startEmbeddedTable();
  table = { ...embedded.table, clock: { now: () => time, wait: () => Promise.resolve() } };
});
afterAll(() => embedded.stop());

/** The same table. Its call number `held` waits until `act` is done. Once. */
function tableHeldAt(held: number, act: () => Promise<void>): { table: Table; calls: () => number } {
  let calls = 0;
  const through = tableThrough(table, async (send) => {
    calls += 1;
    if (calls === held) await act();
    return send();
  });
  return { table: through, calls: () => calls };
}

const members = 3_000;
const states = ['created', 'running', 'completed'];
const stateOfMember = (number: number, round: number) => (number + round) % 3;

describe('a page with folds between two of its calls', () => {
  it.each(oneOf([300, 900, 1_900, 4_100]))('contains everything, once, if the folds come every %d ms', async (pause) => {
    const list = indexedLists.computations(`every-${pause}`);
    const change = async (number: number, before: number, round: number) => {
      const now = stateOfMember(number, round) + 1;
      const member = { list: list.tree, number, before, now, group: groupOfOwner('ann') };
      const Item = { ...keyToWrite(listKeys.row(list.rows, number)), number, status: states[now - 1], owner: 'ann' };
      await transact(table, [{ put: { Item } }, logChange(list.index, number, { version: round + 1, changes: [member] })]);
    };
    // Enough members for several nodes, and changes among them that are not folded.
    const numbers = Array.from({ length: members / 10 }, (_, index) => (index + 1) * 10);
    await Promise.all(numbers.map((number) => change(number, 0, 0)));
    await foldChanges(table, list.index, 1);
    let round = 0;
    for (let held = 1, calls = held; held <= calls; held++) {
      const before = round;
      round += 1;
      for (const number of numbers.filter((each) => each % 100 === 0)) {
        await change(number, stateOfMember(number, before) + 1, round);
      }
      const current = (number: number) => stateOfMember(number, number % 100 === 0 ? round : 0);
      const expected = numbers.filter((number) => current(number) === 1).reverse();
      for (const group of [undefined, groupOfOwner('ann')]) {
        const counted = tableHeldAt(held, async () => {
          for (let fold = 0; fold < 3; fold++) {
            await foldChanges(table, list.index, 1);
            time += pause;
          }
        });
        const { rows, total } = await readPage(counted.table, list, { limit: 40, offset: 51, state: 'running', group });
        const read = { numbers: rows.map((row) => row['number']), total };
        expect(read, `folds before call ${held}`).toEqual({ numbers: expected.slice(51, 91), total: expected.length });
        calls = Math.max(calls, counted.calls());
      }
    }
    expect(round).toBeGreaterThan(3);
  });
});

describe('a fold that reads the two parts of the log at different moments', () => {
  it('leaves nothing of a run that ends and is purged in between', async () => {
    const list = indexedLists.runs('torn');
    const { index } = list;
    const group = groupOfComputation(2);
    const log = (version: number, before: number, now: number) =>
      logChange(index, 2, {
        version,
        changes: [
          { list: 'c', number: 2, before, now: version === 3 ? 0 : now, group: groupOfOwner('ann') },
          ...(version === 3 ? [] : [{ list: 'r', number: 3, before, now, group }]),
        ],
      });
    const foldAll = async () => {
      for (let fold = 0; fold < 3; fold++) {
        await foldChanges(table, index, 1);
        time += 5_000;
      }
    };
    await transact(table, [log(1, 0, 2)]);
    await foldAll();

    // The computation's entry is in the first part, that of the purged run in the second.
    const [first, second] = indexKeys.logs(index);
    let firstIsRead: Promise<unknown> | undefined;
    let isTorn = false;
    const torn = tableThrough(table, async (send, { input }) => {
      const partition = input.ExpressionAttributeValues?.[':pk']; // of a query
      if (partition === second && !isTorn) {
        isTorn = true;
        await firstIsRead;
        await transact(table, [log(2, 2, 4)]);
        await transact(table, [log(3, 4, 0)]);
        const gone = { list: 'r', number: 3, before: 4, now: 0, group };
        const step = { version: lastVersion, changes: [gone], after: { name: nameOfResource(2), version: 3 } };
        await transact(table, [logChange(index, 3, step, 'run-3')]);
      }
      const answer = send();
      if (partition === first) firstIsRead = answer;
      return answer;
    });
    await foldChanges(torn, index, 1);
    expect(isTorn).toBe(true);
    const totals = async () => [
      (await readPage(table, list, { limit: 1, offset: 0 })).total,
      (await readPage(table, indexedLists.computations('torn'), { limit: 1, offset: 0 })).total,
    ];
    expect(await totals()).toEqual([0, 0]);
    await foldAll();
    expect(await totals()).toEqual([0, 0]);
  });
});
