import { randomInt } from 'node:crypto';

/**
 * A node of a counted tree: members sorted by number, with counts by state, from which a total and the members at any position are
 * read in a few steps. Nodes are immutable: a change writes new nodes, up to a new root.
 */
export interface TreeNode {
  /** The number of levels below. 0: a leaf, whose parts are members. Those of an inner node are its children. */
  level: number;
  parts: Part[];
}

export interface Part {
  /** Of the member, or the first one that the child contained when it was written. All its members are at it or after it. */
  number: number;
  /** A member counts one, in its state. */
  counts: Counts;
  /** The identifier of the stored child. Absent while the child is new, and on the right edge of the tree. */
  id?: string;
  /** The child, if it has been read. */
  node?: TreeNode;
}

/** The code of a state: 1 to 7. The code 0 stands for no member. */
export type State = number;

export interface Member {
  /** 1 to 2^48 - 1. */
  number: number;
  state: State;
}

/** Greater than every number. */
export const afterAllNumbers = 2 ** 48;

/** The number of members in each state. The index is the state; index 0 is unused. */
export type Counts = readonly number[];

export const stateCount = 8;

export const emptyTree: TreeNode = { level: 0, parts: [] };

export function emptyCounts(): number[] {
  return new Array<number>(stateCount).fill(0);
}

const countsOfStates: Counts[] = emptyCounts().map((_, state) => emptyCounts().with(state, 1));

/** Returns the counts of one member. */
export function countsOfState(state: State): Counts {
  return countsOfStates[state] ?? emptyCounts();
}

export function addCounts(counts: Counts, others: Counts): Counts {
  return counts.map((count, state) => count + (others[state] ?? 0));
}

export function asPart({ number, state }: Member): Part {
  return { number, counts: countsOfState(state) };
}

/** @returns 0 if there is no member */
export function stateOf(member: Part | undefined): State {
  return member ? member.counts.indexOf(1) : 0;
}

/** Returns a node as the child of another one. */
export function asChild(node: TreeNode): Part {
  const [first] = node.parts;
  if (!first) throw new TypeError('An empty node has no place.');
  return { number: first.number, counts: countsOf(node), node };
}

export function isLeaf({ level }: TreeNode): boolean {
  return level === 0;
}

export function countsOf({ parts }: TreeNode): Counts {
  const sums = emptyCounts();
  for (const { counts } of parts) counts.forEach((count, state) => (sums[state] = (sums[state] ?? 0) + count));
  return sums;
}

/** Returns the number of members in the given states. */
export function sumOf(counts: Counts, states: ReadonlySet<State>): number {
  let sum = 0;
  for (const state of states) sum += counts[state] ?? 0;
  return sum;
}

/** The numbers from the first one on and before the second one. */
export type Range = readonly [from: number, to: number];

/** Returns the numbers that a child covers among those that its parent covers. The first child also covers those before it. */
export function rangeOf({ parts }: TreeNode, index: number): Range {
  return [index === 0 ? 0 : (parts[index]?.number ?? 0), parts[index + 1]?.number ?? afterAllNumbers];
}

/** Returns those of the sorted entries whose numbers are in a range. */
export function within<T extends { number: number }>(sorted: readonly T[], [from, to]: Range): readonly T[] {
  return sorted.slice(indexFrom(sorted, from), indexFrom(sorted, to));
}

/** Returns the index of the first of the sorted entries that is at the number or after it. */
function indexFrom(sorted: readonly { number: number }[], number: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.number ?? number) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** An identifier has two random integers, 63 bits, which take nine bytes. No other node of the list ever has the same. */
const idParts = [2 ** 35, 2 ** 28];

export function newNodeId(): string {
  return idParts.map((end) => randomInt(end).toString(36)).join('.');
}

const largestId = idParts.map((end) => (end - 1).toString(36)).join('.');

/** Returns the integers that encode a part after the number of the one before it. */
function integersOf({ number, counts, id }: Part, level: number, before: number): number[] {
  const step = number - before;
  if (level === 0) return [step * stateCount + counts.indexOf(1)];
  if (id === undefined) throw new TypeError('A child of a stored node needs an identifier.');
  return [step, ...integersOfCounts(counts), ...id.split('.').map((part) => Number.parseInt(part, 36))];
}

/** Returns the most bytes that a part takes after another one, so that a node can be split without encoding it again. */
export function sizeOf(part: Part, level: number, before = 0): number {
  return encodeIntegers(integersOf({ id: largestId, ...part }, level, before)).length;
}

/** Encodes a node. Members next to each other take one byte. */
export function encodeNode({ level, parts }: TreeNode): Uint8Array {
  const ofParts = parts.flatMap((part, index) => integersOf(part, level, parts[index - 1]?.number ?? 0));
  return encodeIntegers([level, ...ofParts]);
}

/** @throws Error if the bytes are no node; an internal error */
export function decodeNode(bytes: Uint8Array): TreeNode {
  const integers = integersIn(bytes);
  const level = integers.next();
  const parts: Part[] = [];
  for (let number = 0; !integers.isAtEnd();) {
    const next = integers.next();
    number += level === 0 ? Math.floor(next / stateCount) : next;
    if (level === 0) parts.push(asPart({ number, state: next % stateCount }));
    else parts.push({ number, counts: integers.counts(), id: idParts.map(() => integers.next().toString(36)).join('.') });
  }
  return { level, parts };
}

/**
 * Encodes the right edge of a tree, from the root to the last leaf, each node without the child that is the next one: it changes with
 * every new member. All other nodes are stored by their identifiers.
 */
export function encodeEdge(tree: TreeNode): Uint8Array[] {
  if (isLeaf(tree)) return [encodeNode(tree)];
  const below = tree.parts.at(-1)?.node;
  return [encodeNode({ ...tree, parts: tree.parts.slice(0, -1) }), ...(below ? encodeEdge(below) : [])];
}

/** @throws Error if the bytes are not the right edge of a tree; an internal error */
export function decodeEdge(edge: readonly Uint8Array[]): TreeNode {
  let tree: TreeNode | undefined;
  for (const bytes of edge.toReversed()) {
    const node = decodeNode(bytes);
    if (node.level !== (tree ? tree.level + 1 : 0)) throw new Error('The stored edge of a tree is incomplete.');
    if (tree) node.parts.push(asChild(tree));
    tree = node;
  }
  return tree ?? emptyTree;
}

/** Encodes integers from 0 to 2^53 - 1, seven bits a byte, the lowest first. The highest bit of a byte says that another follows. */
export function encodeIntegers(integers: Iterable<number>): Uint8Array {
  const bytes: number[] = [];
  for (const integer of integers) {
    if (!Number.isSafeInteger(integer) || integer < 0) throw new TypeError(`Expected an integer from 0, not ${integer}.`);
    let left = integer;
    for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
    bytes.push(left);
  }
  return Uint8Array.from(bytes);
}

/** Returns the integers that encode counts: a bit for each state that has members, and the counts of these. */
export function integersOfCounts(counts: Counts): number[] {
  const bits = counts.reduce((sum, count, state) => (count > 0 ? sum | (1 << state) : sum), 0);
  return [bits, ...counts.filter((count) => count > 0)];
}

/** Returns what takes one integer after another from what encodeIntegers returned. */
export function integersIn(bytes: Uint8Array) {
  let position = 0;
  /** @throws Error if bytes are missing; an internal error */
  const next = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[position++];
      if (byte === undefined) throw new Error('A stored item of a list ends too early.');
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const counts = () => {
    const bits = next();
    return emptyCounts().map((_, state) => (bits & (1 << state) ? next() : 0));
  };
  return { next, counts, isAtEnd: () => position >= bytes.length };
}
