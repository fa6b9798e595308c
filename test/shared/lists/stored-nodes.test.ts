import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TreeNode } from '../../../shared/lists/node.ts';
import { NodeGoneError, nodeItems, StoredNodes } from '../../../shared/lists/stored-nodes.ts';
import { putItems } from '../../../shared/table/writes.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../../support/embedded-table.ts';

let embedded: EmbeddedTable;
beforeAll(async () => {
  embedded = await startEmbeddedTable();
  await putItems(embedded.table, nodeItems(index, nodes));
  embedded.table.document.middlewareStack.add(
    (next) => (sent) => {
      calls.push(JSON.stringify(sent.input));
      return next(sent);
    },
    { step: 'initialize' },
  );
});
afterAll(() => embedded.stop());

const index = { scope: 'computations#d1', logShards: 2, trees: { c: undefined } };
const leaf = (number: number): TreeNode => ({ level: 0, members: [{ group: '', number, state: 1 }] });
const [one, two, root] = ['AAAAAAAAAAE', 'BBBBBBBBBBE', 'CCCCCCCCCCE'] as const;
const counts = [0, 1, 0, 0, 0, 0, 0, 0];
const inner: TreeNode = {
  level: 1,
  children: [
    { first: { group: '', number: 1 }, counts, id: one },
    { first: { group: '', number: 2 }, counts, id: two },
  ],
};
const nodes = new Map([
  [one, leaf(1)],
  [two, leaf(2)],
  [root, inner],
]);
/** What was asked for in each call. */
let calls: string[] = [];

describe('StoredNodes', () => {
  it('reads leaves and inner nodes as they were written', async () => {
    const source = new StoredNodes(embedded.table, index);
    expect(await Promise.all([one, two, root].map((id) => source.read(id)))).toEqual([leaf(1), leaf(2), inner]);
  });

  it('reads all nodes that are requested at the same time in one call, and no node twice', async () => {
    const source = new StoredNodes(embedded.table, index);
    calls = [];
    await Promise.all([source.read(one), source.read(two), source.read(one)]);
    expect(calls).toHaveLength(1);
    await source.read(two);
    expect(calls).toHaveLength(1);
    expect(await source.read(root)).toEqual(inner);
    expect(calls).toHaveLength(2);
    expect([calls[1]?.includes(root), calls[1]?.includes(one), calls[1]?.includes(two)]).toEqual([true, false, false]);
  });

  it('throws NodeGoneError for a node that was deleted, and reads the others', async () => {
    const source = new StoredNodes(embedded.table, index);
    const [gone, there] = await Promise.allSettled([source.read('DDDDDDDDDDE'), source.read(one)]);
    expect(gone).toMatchObject({ status: 'rejected', reason: expect.any(NodeGoneError) });
    expect(there).toEqual({ status: 'fulfilled', value: leaf(1) });
  });
});
