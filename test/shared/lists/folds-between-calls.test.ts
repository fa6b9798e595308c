import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { groupOfOwner, indexedLists } from '../../../shared/lists/indexed-list.ts';
import { logChange } from '../../../shared/lists/log.ts';
import { readPage } from '../../../shared/lists/read-page.ts';
import { keyToWrite, listKeys } from '../../../shared/table/keys.ts';
import type { Table } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../../support/embedded-table.ts';

let embedded: EmbeddedTable;
let table: Table;
let time = Date.parse('2026-01-01T00:00:00Z');
beforeAll(async () => {
  embedded = await startEmbeddedTable();
  table = { ...embedded.table, clock: { now: () => time, wait: () => Promise.resolve() } };
});
afterAll(() => embedded.stop());

type Send = (...sent: unknown[]) => Promise<unknown>;

/** The same table. Its call number `held` waits until `act` is done. Once. */
function tableHeldAt(held: number, act: () => Promise<void>): { table: Table; calls: () => number } {
  let calls = 0;
  const { document } = embedded.table;
  const send: Send = async (...sent) => {
    calls += 1;
    if (calls === held) await act();
    return (document.send as Send)(...sent);
  };
  return {
    table: {
      ...table,
      document: new Proxy(document, {
        get: (target, name) => (name === 'send' ? send : (Reflect.get(target, name) as unknown)),
      }),
    },
    calls: () => calls,
  };
}

const members = 3_000;
const states = ['created', 'running', 'completed'];
const stateOfMember = (number: number, round: number) => (number + round) % 3;

describe('a page with folds between two of its calls', () => {
  it.each([300, 900, 1_900, 4_100])('contains everything, once, if the folds come every %d ms', async (pause) => {
    const list = indexedLists.computations(`every-${pause}`);
    const change = async (number: number, before: number, round: number) => {
      const now = stateOfMember(number, round) + 1;
      const member = { list: list.tree, number, before, now, group: groupOfOwner('ann') };
      const Item = { ...keyToWrite(listKeys.row(list.rows, number)), number, status: states[now - 1] };
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
