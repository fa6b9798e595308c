import { comparePlaces, isLeaf, placeName, type Member, type Place, type TreeNode } from './node.ts';
import { childOf, type View } from './select-members.ts';

/** Reads the members from a place on and before another one, in order. */
export async function membersBetween(view: View, from: Place, to: Place): Promise<Member[]> {
  const stored = await collectBetween(view, view.tree, from, to);
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

async function collectBetween(view: View, node: TreeNode, from: Place, to: Place): Promise<Member[]> {
  if (isLeaf(node)) return node.members.filter((member) => comparePlaces(member, from) >= 0 && comparePlaces(member, to) < 0);
  const parts = node.children.map(async (child, index) => {
    const next = node.children[index + 1];
    // The first child also covers the places before it.
    const endsBefore = next !== undefined && comparePlaces(next.first, from) <= 0;
    const beginsAfter = index > 0 && comparePlaces(child.first, to) >= 0;
    return endsBefore || beginsAfter ? [] : collectBetween(view, await childOf(child, view.source), from, to);
  });
  return (await Promise.all(parts)).flat();
}
