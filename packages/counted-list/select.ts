import { countsOf, indexFrom, isLeaf, type Child, type Leaf, type Member, type State, sumOf, type TreeNode } from './node.ts';
import { childOf, type NodeSource } from './tree.ts';

/** A member whose state differs from the one in the tree. State 0: no member. */
export interface Difference {
  number: number;
  /** In the tree. */
  before: State;
  now: State;
}

/** A tree and the changes that it does not contain yet: one view of a list at one moment. */
export interface View {
  tree: TreeNode;
  source: NodeSource;
  /** At most one for each member. Sorted by number. */
  differences: readonly Difference[];
}

interface Slice {
  skip: number;
  take: number;
}

/** The numbers from `from` on and before `to`. Absent: without an end. */
interface Range {
  from?: number;
  to?: number;
}

/** Returns the numbers of the members in one of the states, newest first, after the newest `skip`. */
export async function membersAt(view: View, states: ReadonlySet<State>, slice: Slice): Promise<number[]> {
  return slice.take > 0 ? collect(view, view.tree, {}, states, slice) : [];
}

/** Returns the number of members in one of the states. */
export function countMembers({ tree, differences }: View, states: ReadonlySet<State>): number {
  return sumOf(countsOf(tree), states) + changeOf(differences, states);
}

/** Returns by how many members in the states a view differs from its tree. */
export function changeOf(differences: readonly Difference[], states: ReadonlySet<State>): number {
  let sum = 0;
  for (const { before, now } of differences) sum += Number(states.has(now)) - Number(states.has(before));
  return sum;
}

/** Reads the nodes of each level at the same time. */
async function collect(
  view: View,
  node: TreeNode,
  range: Range,
  states: ReadonlySet<State>,
  { skip, take }: Slice,
): Promise<number[]> {
  if (isLeaf(node)) return collectFromLeaf(newestFirst(node, within(view.differences, range)), states, { skip, take });
  const parts: Promise<number[]>[] = [];
  let position = 0;
  for (let index = node.children.length - 1; index >= 0 && position < skip + take; index--) {
    const child = node.children[index];
    if (!child) continue;
    // The first child also covers the numbers before it.
    const part: Range = { ...(index === 0 ? range : { ...range, from: child.first }) };
    const next = node.children[index + 1];
    if (next) part.to = next.first;
    const count = sumOf(child.counts, states) + changeOf(within(view.differences, part), states);
    const start = Math.max(0, skip - position);
    const end = Math.min(count, skip + take - position);
    if (end > start) {
      const slice = { skip: start, take: end - start };
      parts.push(childOf(child, view.source).then((read) => collect(view, read, part, states, slice)));
    }
    position += count;
  }
  return (await Promise.all(parts)).flat();
}

function collectFromLeaf(members: Generator<Member>, states: ReadonlySet<State>, { skip, take }: Slice): number[] {
  const numbers: number[] = [];
  let left = skip;
  for (const { number, state } of members) {
    if (!states.has(state) || left-- > 0) continue;
    if (numbers.push(number) === take) break;
  }
  return numbers;
}

/** Returns the members of a leaf as they are with the differences, one by one from the newest on. State 0: no member. */
function* newestFirst({ members }: Leaf, differences: readonly Difference[]): Generator<Member> {
  let left = members.length;
  for (const { number, now } of differences.toReversed()) {
    let member = members[left - 1];
    for (; member && member.number > number; member = members[--left - 1]) yield member;
    if (member?.number === number) left--;
    yield { number, state: now };
  }
  for (let member = members[left - 1]; member; member = members[--left - 1]) yield member;
}

const numberOf = ({ number }: { number: number }) => number;

function within(differences: readonly Difference[], { from, to }: Range): readonly Difference[] {
  const index = (number: number) => indexFrom(differences, number, numberOf);
  return differences.slice(from === undefined ? 0 : index(from), to === undefined ? undefined : index(to));
}

/**
 * Reads the members from a number on and before another one, in order.
 * @param onChild called for each node below the root that is read, with what its parent says of it
 */
export async function membersBetween(
  view: View,
  from: number,
  to: number,
  onChild: (child: Child, node: TreeNode) => void = () => undefined,
): Promise<Member[]> {
  const collectBetween = async (node: TreeNode): Promise<Member[]> => {
    if (isLeaf(node)) return node.members.filter(({ number }) => number >= from && number < to);
    const parts = node.children.map(async (child, index) => {
      const next = node.children[index + 1];
      const endsBefore = next !== undefined && next.first <= from;
      const beginsAfter = index > 0 && child.first >= to;
      if (endsBefore || beginsAfter) return [];
      const read = await childOf(child, view.source);
      onChild(child, read);
      return await collectBetween(read);
    });
    return (await Promise.all(parts)).flat();
  };
  const present = new Map((await collectBetween(view.tree)).map((member) => [member.number, member]));
  for (const { number, now } of within(view.differences, { from, to })) {
    if (now > 0) present.set(number, { number, state: now });
    else present.delete(number);
  }
  return [...present.values()].sort((a, b) => a.number - b.number);
}
