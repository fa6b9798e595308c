import { describe, expect, it } from 'vitest';
import { emptyHead } from '../../../shared/lists/head.ts';
import { indexedLists, memberChange } from '../../../shared/lists/indexed-list.ts';
import { membersBetween } from '../../../shared/lists/members-between.ts';
import { membersByRows } from '../../../shared/lists/members-by-rows.ts';
import { nextNumber } from '../../../shared/lists/next-number.ts';
import { isLeaf } from '../../../shared/lists/node.ts';
import { hasOldMembers, readOldDays, readOldTree } from '../../../shared/lists/old-lists.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { addToList, countTransition } from '../../support/earlier-lists.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const add = async (list: ReturnType<typeof indexedLists.computations>, number: number, facet: string) =>
  transact(embedded.table, addToList(list.rows, number, facet));

describe('readOldTree', () => {
  it('has the members of earlier versions in leaves by 256 numbers, in order, with their states and counts', async () => {
    const list = indexedLists.computations('d1');
    await add(list, 300, 'running');
    await add(list, 2, 'created');
    await add(list, 1, 'running');
    await add(list, 3, 'created');
    await add(list, 9_000, 'completed');
    const { tree, source } = await readOldTree(embedded.table, list);
    expect(tree).toEqual({
      level: 1,
      children: [
        { first: { group: '', number: 0 }, counts: [0, 2, 1, 0, 0, 0, 0, 0], id: '0' },
        { first: { group: '', number: 256 }, counts: [0, 0, 1, 0, 0, 0, 0, 0], id: '256' },
        { first: { group: '', number: 8960 }, counts: [0, 0, 0, 0, 1, 0, 0, 0], id: '8960' },
      ],
    });
    const view = { tree, source, differences: [] };
    const members = await membersBetween(view, { group: '', number: 0 }, { group: '', number: 10_000 });
    expect(members.map(({ group, number, state }) => [group, number, state])).toEqual([
      ['', 1, 2],
      ['', 2, 1],
      ['', 3, 1],
      ['', 300, 2],
      ['', 9_000, 4],
    ]);
  });

  it('is an empty leaf where earlier versions listed nothing', async () => {
    const list = indexedLists.computations('empty');
    const { tree } = await readOldTree(embedded.table, list);
    expect([isLeaf(tree), tree]).toEqual([true, { level: 0, members: [] }]);
    expect(await hasOldMembers(embedded.table, list.index)).toBe(false);
    await add(list, 1, 'created');
    expect(await hasOldMembers(embedded.table, list.index)).toBe(true);
  });
});

describe('readOldDays', () => {
  it('counts the states that computations entered on each day', async () => {
    const list = indexedLists.computations('d2');
    for (const [status, day] of [
      ['created', '2026-01-01'],
      ['created', '2026-01-01'],
      ['completed', '2026-01-01'],
      ['failed', '2026-01-03'],
    ] as const) {
      await transact(embedded.table, [countTransition('d2', status, `${day}T12:00:00.000Z`)]);
    }
    expect([...(await readOldDays(embedded.table, list))]).toEqual([
      [20_454, [0, 2, 0, 0, 1, 0, 0, 0]],
      [20_456, [0, 0, 0, 0, 0, 1, 0, 0]],
    ]);
    expect(await readOldDays(embedded.table, indexedLists.assets('d2'))).toEqual(new Map());
  });
});

describe('membersByRows', () => {
  it('has no member whose row a function of an earlier version has deleted without the log', async () => {
    const list = indexedLists.computations('d3');
    const steps = [{ version: 1, changes: [memberChange(list, 5, { now: 'created', group: 'o' })] }];
    const members = await membersByRows(embedded.table, list, emptyHead, [{ log: 'log', name: '5', steps }]);
    expect(members).toEqual([{ group: 'o', number: 5, state: 0 }]);
  });
});

describe('nextNumber', () => {
  it('counts from 1 in a list where earlier versions listed nothing', async () => {
    const { rows } = indexedLists.computations('d4');
    expect([await nextNumber(embedded.table, rows), await nextNumber(embedded.table, rows)]).toEqual([1, 2]);
  });
});
