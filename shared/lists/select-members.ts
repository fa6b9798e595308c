import {
  afterAllNumbers,
  type Child,
  comparePlaces,
  countsOf,
  indexFrom,
  isLeaf,
  type Leaf,
  type Member,
  type Place,
  placeName,
  type State,
  sumOf,
  type TreeNode,
} from './node.ts';
import type { NodeSource, Tree } from './stored-nodes.ts';

/** A member whose state differs from the one in the tree. State 0: no member. */
export interface Difference extends Place {
  /** In the tree. */
  before: State;
  now: State;
}

/** A tree and the changes that it does not contain yet: one view of a list at one moment. */
export interface View {
  tree: Tree;
  source: NodeSource;
  /** At most one for each place. Sorted by comparePlaces. */
  differences: readonly Difference[];
}

/** Members of a group in one of the states. */
export interface Selection {
  group: string;
  states: ReadonlySet<State>;
}

export interface Selected {
  /** Newest first, that is by descending number. */
  numbers: number[];
  /** The number of all members that match. */
  total: number;
}

/** Reads the matching members at the positions from `offset` to `offset + limit`, and the number of all that match. */
export async function selectMembers(
  view: View,
  selection: Selection,
  { offset, limit }: { offset: number; limit: number },
): Promise<Selected> {
  const { after, upTo } = await boundsOf(view, selection);
  const total = upTo - after;
  const numbers = await membersAt(view, selection.states, { skip: after + offset, take: Math.min(limit, total - offset) });
  return { numbers, total };
}

/** Returns the numbers of the members of all groups in one of the states, newest first, after the newest `skip`. */
export async function membersAt(view: View, states: ReadonlySet<State>, slice: Slice): Promise<number[]> {
  return slice.take > 0 ? collect(view, view.tree, everything, states, slice) : [];
}

/** Returns the number of members of all groups in one of the states. */
export function countMembers({ tree, differences }: View, states: ReadonlySet<State>): number {
  return sumOf(countsOf(tree), states) + differenceIn(differences, everything, states);
}

interface Slice {
  skip: number;
  take: number;
}

/** Returns how many members in the states are after the group, and from its beginning on. */
async function boundsOf(view: View, { group, states }: Selection): Promise<{ after: number; upTo: number }> {
  const [after, upTo] = await Promise.all([countFrom(view, endOf(group), states), countFrom(view, { group, number: 0 }, states)]);
  return { after, upTo };
}

/** The first place after all members of a group. */
function endOf(group: string): Place {
  return { group, number: afterAllNumbers };
}

/** The places from `from` on and before `to`. Absent: without an end. */
interface Range {
  from?: Place;
  to?: Place;
}

const everything: Range = {};

/** Returns the number of members in one of the states at the place and after it. Reads one node of each level at most. */
async function countFrom({ tree, source, differences }: View, place: Place, states: ReadonlySet<State>): Promise<number> {
  let count = differenceIn(differences, { from: place }, states);
  for (let node = tree; ;) {
    if (isLeaf(node)) {
      return count + node.members.slice(indexFrom(node.members, place)).filter(({ state }) => states.has(state)).length;
    }
    const at = node.children.findLastIndex(({ first }) => comparePlaces(first, place) < 0);
    for (const { counts } of node.children.slice(at + 1)) count += sumOf(counts, states);
    const child = node.children[at];
    if (!child || sumOf(child.counts, states) === 0) return count;
    node = await childOf(child, source);
  }
}

/** Returns the numbers of the matching members after the newest `skip`. Reads the nodes of each level at the same time. */
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
    // The first child also covers the places before it.
    const part: Range = { ...(index === 0 ? range : { ...range, from: child.first }) };
    const next = node.children[index + 1];
    if (next) part.to = next.first;
    const count = sumOf(child.counts, states) + differenceIn(view.differences, part, states);
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

function collectFromLeaf(members: ReturnType<typeof newestFirst>, states: ReadonlySet<State>, { skip, take }: Slice): number[] {
  const numbers: number[] = [];
  let left = skip;
  for (const { number, state } of members) {
    if (!states.has(state) || left-- > 0) continue;
    if (numbers.push(number) === take) break;
  }
  return numbers;
}

/** Returns the members of a leaf as they are with the differences, one by one from the newest on. State 0: no member. */
function* newestFirst({ members }: Leaf, differences: readonly Difference[]): Generator<Pick<Member, 'number' | 'state'>> {
  let left = members.length;
  for (const difference of differences.toReversed()) {
    let member = members[left - 1];
    for (; member && comparePlaces(member, difference) > 0; member = members[--left - 1]) yield member;
    if (member && comparePlaces(member, difference) === 0) left--;
    yield { number: difference.number, state: difference.now };
  }
  for (let member = members[left - 1]; member; member = members[--left - 1]) yield member;
}

/** Returns a child of a node. Reads it if that has not been done. */
export async function childOf({ node, id }: Child, source: NodeSource): Promise<TreeNode> {
  if (node) return node;
  if (id === undefined) throw new Error('A stored node lacks the identifier of a child.');
  return source.read(id);
}

/** Returns by how many members the view differs from the tree in a range. */
function differenceIn(differences: readonly Difference[], range: Range, states: ReadonlySet<State>): number {
  let sum = 0;
  for (const { before, now } of within(differences, range)) sum += Number(states.has(now)) - Number(states.has(before));
  return sum;
}

function within(differences: readonly Difference[], { from, to }: Range): readonly Difference[] {
  return differences.slice(from ? indexFrom(differences, from) : 0, to && indexFrom(differences, to));
}

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
