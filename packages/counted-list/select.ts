import { isLeaf, type Member, type Part, rangeOf, type State, stateOf, sumOf, type TreeNode, within } from './node.ts';
import { childOf, type Difference, mergeMembers, type NodeSource } from './tree.ts';

export interface View {
  tree: TreeNode;
  source: NodeSource;
  differences: readonly Difference[];
}

export function changeOf(differences: readonly Difference[], states: ReadonlySet<State>): number {
  let sum = 0;
  for (const { before, now } of differences) sum += Number(states.has(now)) - Number(states.has(before));
  return sum;
}

/**
 * Returns the numbers of the members in certain states on a slice of the list, newest first. Reads the nodes of each level of the
 * tree at the same time.
 * @param slice.take the number of members to return, from 0
 */
export async function membersAt(
  { tree, source, differences }: View,
  states: ReadonlySet<State>,
  { skip, take }: { skip: number; take: number },
): Promise<number[]> {
  if (isLeaf(tree)) {
    const members = mergeMembers(tree.parts, differences).filter((member) => states.has(stateOf(member)));
    return members
      .reverse()
      .slice(skip, skip + take)
      .map(({ number }) => number);
  }
  const found: Promise<number[]>[] = [];
  let position = 0;
  for (let index = tree.parts.length - 1; index >= 0 && position < skip + take; index--) {
    const child = tree.parts[index];
    if (!child) continue;
    const ofChild = within(differences, rangeOf(tree, index));
    const count = sumOf(child.counts, states) + changeOf(ofChild, states);
    const start = Math.max(0, skip - position);
    const end = Math.min(count, skip + take - position);
    if (end > start) {
      const slice = { skip: start, take: end - start };
      found.push(childOf(child, source).then((read) => membersAt({ tree: read, source, differences: ofChild }, states, slice)));
    }
    position += count;
  }
  return (await Promise.all(found)).flat();
}

/**
 * Returns the members with numbers from `from` to below `to`, oldest first.
 * @param onChild called for each node below the root that is read, with the part of its parent that counts it
 */
export async function membersBetween(
  { tree, source, differences }: View,
  from: number,
  to: number,
  onChild: (child: Part, node: TreeNode) => void,
): Promise<Member[]> {
  if (isLeaf(tree)) {
    const members = mergeMembers(tree.parts, differences).map((part) => ({ number: part.number, state: stateOf(part) }));
    return members.filter(({ number }) => number >= from && number < to);
  }
  const found = tree.parts.map(async (child, index) => {
    const [first, end] = rangeOf(tree, index);
    if (end <= from || first >= to) return [];
    const read = await childOf(child, source);
    onChild(child, read);
    return await membersBetween({ tree: read, source, differences: within(differences, [first, end]) }, from, to, onChild);
  });
  return (await Promise.all(found)).flat();
}
