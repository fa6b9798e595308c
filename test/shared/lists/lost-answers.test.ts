import { expect, it } from 'vitest';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { parseHead } from '../../../shared/lists/head.ts';
import { groupOfOwner, indexedLists, memberChange, type IndexedList } from '../../../shared/lists/indexed-list.ts';
import { logChange } from '../../../shared/lists/log.ts';
import { selectMembers } from '../../../shared/lists/select-members.ts';
import { withSnapshot } from '../../../shared/lists/snapshot.ts';
import { indexKeys } from '../../../shared/table/keys.ts';
import { getItem, type Table } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { startProxiedTable, tableThrough } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const proxied = sharedByTests(() => startProxiedTable({ latencyInMilliseconds: 0 }));

const list = indexedLists.computations('d1');
const other = indexedLists.computations('d2');
const members = 1_200;

function create(number: number, list: IndexedList) {
  const changes = [memberChange(list, number, { now: 'created', group: groupOfOwner('ann') })];
  return logChange(list.index, number, { version: 1, changes });
}

function selectAll({ index }: IndexedList) {
  return withSnapshot(proxied.direct, index, async (snapshot) =>
    selectMembers(await snapshot.view('c'), { group: '', states: new Set([1]) }, { offset: 0, limit: members }),
  );
}

it('a fold whose commit loses its answer keeps all that the head refers to', async () => {
  const creates = Array.from({ length: members }, (_, index) => create(index + 1, list));
  for (let start = 0; start < members; start += 100) await transact(proxied.direct, creates.slice(start, start + 100));
  // The first item that a fold puts is its plan, the second one is the head. The SDK repeats that write, and meets its own.
  proxied.proxy.inject({ kind: 'lost-answer', share: 1, operations: ['PutItem'], after: 1, times: 1 });
  await foldChanges(proxied.table, list.index, 1);
  expect(proxied.proxy.faults()).toBe(1);
  const { total, numbers } = await selectAll(list);
  expect(total).toBe(members);
  expect(numbers).toHaveLength(members);
});

it('a fold keeps all that the head refers to if it finds out late, after the clock was set back', async () => {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const begin = time;
  let steady = 0;
  const table: Table = { ...proxied.direct, clock: { now: () => time, steady: () => steady, wait: () => Promise.resolve() } };
  const late = tableThrough(table, async (send, { input }) => {
    if (time > begin || input.Item?.['sk'] !== 'head') return await send();
    await send();
    for (let fold = 0; fold < 3; fold++) {
      time += 5_000;
      steady += 5_000;
      await foldChanges(table, other.index, 1);
    }
    expect(parseHead(await getItem(table, indexKeys.head(other.index))).folds).toEqual([]);
    time = begin - 1;
    return await send();
  });
  const creates = Array.from({ length: members }, (_, at) => create(at + 1, other));
  for (let start = 0; start < members; start += 100) await transact(table, creates.slice(start, start + 100));
  expect(await foldChanges(late, other.index, 1)).toMatchObject({ folded: 0 });
  expect((await selectAll(other)).numbers).toHaveLength(members);
});
