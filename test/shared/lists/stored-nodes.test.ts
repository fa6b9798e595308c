import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clearFold } from '../../../shared/lists/clear-fold.ts';
import { idInPlaceOf, newNodeId, type TreeNode } from '../../../shared/lists/node.ts';
import { NodeGoneError, nodeItems, removeNode, replaceNode, StoredNodes } from '../../../shared/lists/stored-nodes.ts';
import { indexKeys } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
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
const [one, two, root] = ['AAAAAAAAAAAAAAE', 'BBBBBBBBBBBBBBE', 'CCCCCCCCCCCCCCE'] as const;
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
    const isAskedFor = (id: string) => calls[1]?.includes(indexKeys.node(index, id).sk);
    expect([isAskedFor(root), isAskedFor(one), isAskedFor(two)]).toEqual([true, false, false]);
  });

  it('throws NodeGoneError for a node that was deleted, and reads the others', async () => {
    const source = new StoredNodes(embedded.table, index);
    const [gone, there] = await Promise.allSettled([source.read('DDDDDDDDDDDDDDE'), source.read(one)]);
    expect(gone).toMatchObject({ status: 'rejected', reason: expect.any(NodeGoneError) });
    expect(there).toEqual({ status: 'fulfilled', value: leaf(1) });
  });
});

describe('a node in place of a dead one', () => {
  const shared = { scope: 'computations#d2', logShards: 2, trees: { c: undefined } };
  const read = async (id: string) => await new StoredNodes(embedded.table, shared).read(id);
  const itemOf = async (id: string) => await getItem(embedded.table, indexKeys.node(shared, id));
  /** Stores a node that no tree contains any more, and returns the identifiers of two that may take its place. */
  const die = async () => {
    const dead = newNodeId();
    await putItems(embedded.table, nodeItems(shared, [[dead, leaf(1)]]));
    return [dead, idInPlaceOf(dead), idInPlaceOf(dead)] as const;
  };

  it('takes its item, and costs one write and no deletion', async () => {
    const [dead, id] = await die();
    await replaceNode(embedded.table, shared, dead, [id, leaf(2)]);
    expect(await read(id)).toEqual(leaf(2));
    await expect(read(dead)).rejects.toThrow(NodeGoneError);
    expect(Object.keys((await itemOf(dead))?.['nodes'] as object)).toHaveLength(1);
  });

  it('is written if the dead one is deleted already', async () => {
    const [dead, id] = await die();
    await removeNode(embedded.table, shared, dead);
    expect(await itemOf(dead)).toBeUndefined();
    await replaceNode(embedded.table, shared, dead, [id, leaf(2)]);
    expect(await read(id)).toEqual(leaf(2));
  });

  it('is not changed by another one that comes late, nor by the removal of that', async () => {
    const [dead, id, late] = await die();
    await replaceNode(embedded.table, shared, dead, [id, leaf(2)]);
    await replaceNode(embedded.table, shared, dead, [late, leaf(3)]);
    expect([await read(id), await read(late)]).toEqual([leaf(2), leaf(3)]);
    await removeNode(embedded.table, shared, late);
    expect(await read(id)).toEqual(leaf(2));
    await removeNode(embedded.table, shared, id);
    expect(await itemOf(id)).toBeUndefined();
  });

  it('stays when a fold is cleared that replaced another node of its item', async () => {
    const [dead, id, other] = await die();
    await replaceNode(embedded.table, shared, dead, [id, leaf(2)]);
    await replaceNode(embedded.table, shared, dead, [other, leaf(3)]);
    const fold = { name: 'f', stage: 'seen', at: 0, entries: new Map<string, number>() } as const;
    const plan = { version: 1, written: [], replacing: [], dropped: [other], roots_written: [], roots_dropped: [] };
    await clearFold(embedded.table, shared, fold, { entries: [], plan });
    expect(await read(id)).toEqual(leaf(2));
    await expect(read(other)).rejects.toThrow(NodeGoneError);
  });

  it('is not deleted by a removal of the dead one that comes late', async () => {
    const [dead, id] = await die();
    await replaceNode(embedded.table, shared, dead, [id, leaf(2)]);
    await removeNode(embedded.table, shared, dead);
    expect(await read(id)).toEqual(leaf(2));
  });
});
