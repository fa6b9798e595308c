import { indexKeys } from '../table/index-keys.ts';
import type { Key } from '../table/keys.ts';
import type { Item } from '../table/table.ts';
import type { Head } from './head.ts';
import type { ListIndex } from './list-index.ts';
import { countsOf } from './node.ts';
import { decodeEdge, divideEdge } from './tree.ts';

/**
 * Returns the head that follows `before` with other trees, and the items of their roots, which are to be written before it.
 * @param edges the right edge of each tree, by its id
 * @param name the name of the roots
 */
export function headOfTrees(
  index: ListIndex,
  before: Head,
  edges: Iterable<[treeId: string, edge: Uint8Array[]]>,
  name: string,
): { head: Head; roots: (Item & Key)[] } {
  const head: Head = { ...before, version: before.version + 1, totals: {}, leaves: {}, branches: {}, roots: {} };
  const roots: (Item & Key)[] = [];
  for (const [treeId, edge] of edges) {
    const isList = treeId in index.trees;
    const tree = decodeEdge(edge);
    const { upper, branch, leaf } = divideEdge(tree, isList);
    if (isList) head.totals[treeId] = [...countsOf(tree)];
    if (leaf) head.leaves[treeId] = leaf;
    if (branch) head.branches[treeId] = branch;
    if (upper.length === 0) continue;
    head.roots[treeId] = name;
    roots.push({ ...indexKeys.root(index, treeId, name), edge: upper });
  }
  return { head, roots };
}
