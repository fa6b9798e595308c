import { comparePlaces, isLeaf, placeName, type Child, type Member, type Place, type TreeNode } from './node.ts';
import { childOf, type View } from './select-members.ts';

/** @param child what the parent says of the node */
export type OnChild = (child: Child, node: TreeNode) => void;

/**
 * Reads the members from a place on and before another one, in order.
 * @param onChild called for each node below the root that is read
 */
export async function membersBetween(view: View, from: Place, to: Place, onChild?: OnChild): Promise<Member[]> {
  const stored = await collectBetween(view, view.tree, { from, to, onChild });
  const present = new Map(stored.map((member) => [placeName(member), member]));
  for (const { group, number, now } of view.differences) {
    const place = { group, number };
    const isInside = comparePlaces(place, from) >= 0 && comparePlaces(place, to) < 0;
    if (!isInside) continue;
    if (now > 0) present.set(placeName(place), { ...place, state: now });
    else present.delete(placeName(place));
  }
  return [...present.values()].sort(comparePlaces);
}

interface Wanted {
  from: Place;
  to: Place;
  onChild: OnChild | undefined;
}

async function collectBetween(view: View, node: TreeNode, wanted: Wanted): Promise<Member[]> {
  const { from, to, onChild } = wanted;
  if (isLeaf(node)) return node.members.filter((member) => comparePlaces(member, from) >= 0 && comparePlaces(member, to) < 0);
  const parts = node.children.map(async (child, index) => {
    const next = node.children[index + 1];
    // The first child also covers the places before it.
    const endsBefore = next !== undefined && comparePlaces(next.first, from) <= 0;
    const beginsAfter = index > 0 && comparePlaces(child.first, to) >= 0;
    if (endsBefore || beginsAfter) return [];
    const read = await childOf(child, view.source);
    onChild?.(child, read);
    return await collectBetween(view, read, wanted);
  });
  return (await Promise.all(parts)).flat();
}
