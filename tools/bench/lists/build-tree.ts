import { asChild, joinLevels, nameNewNodes } from '../../../shared/lists/change-tree.ts';
import type { ListIndex } from '../../../shared/lists/log.ts';
import type { Child, Member } from '../../../shared/lists/node.ts';
import { encodeEdge, nodeItems } from '../../../shared/lists/stored-nodes.ts';
import type { Table } from '../../../shared/table/table.ts';
import { putItems } from '../../../shared/table/writes.ts';

/** As many as fit into a leaf if a tenth of the numbers is missing and the leaf is on the right edge of its tree. */
const mostPerLeaf = 850;
const nodesPerWrite = 2_000;

/**
 * Writes the tree that results if members come one after another.
 * @param members sorted
 * @param membersPerLeaf Default: as many as fit if they have the same group.
 * @returns its right edge
 */
export async function buildTree(
  table: Table,
  index: ListIndex,
  members: Iterable<Member>,
  membersPerLeaf = mostPerLeaf,
): Promise<Uint8Array[]> {
  const leaves: Child[] = [];
  let filled: Member[] = [];
  let written = 0;
  const write = async () => {
    const pending = new Map(leaves.slice(written).flatMap(({ id, node }) => (id !== undefined && node ? [[id, node]] : [])));
    await putItems(table, nodeItems(index, pending));
    for (const leaf of leaves.slice(written)) if (leaf.id !== undefined) delete leaf.node;
    written = leaves.length - 1;
  };
  for (const member of members) {
    if (filled.push(member) < membersPerLeaf) continue;
    leaves.push(asChild({ level: 0, members: filled }));
    filled = [];
    if (leaves.length - written < nodesPerWrite) continue;
    nameNewNodes({ level: 1, children: leaves.slice(written) });
    await write();
  }
  if (filled.length > 0) leaves.push(asChild({ level: 0, members: filled }));
  nameNewNodes({ level: 1, children: leaves.slice(written) });
  await write();
  const tree = joinLevels(leaves);
  await putItems(table, nodeItems(index, nameNewNodes(tree)));
  return encodeEdge(tree);
}
