import { randomInt } from 'node:crypto';

/**
 * A node of the counted tree: members sorted by number, or child nodes, with counts by state. Nodes are immutable: a change
 * writes new nodes, up to a new root.
 */
export interface TreeNode {
  /** The number of levels below the node. 0: a leaf, whose parts are members. */
  level: number;
  parts: Part[];
}

export interface Part {
  /**
   * The number of the member or, for a child node, of the first member it had when it was written. No member of the child has a
   * smaller number.
   */
  number: number;
  /** The numbers of members by state: in a leaf 1 in the state of the member, else the sums of the child node. */
  counts: Counts;
  /**
   * The identifier of the stored child node. Absent for members, for a child that is not written yet, and on the right edge of
   * the tree.
   */
  id?: string;
  node?: TreeNode;
}

export type State = number;

export interface Member {
  number: number;
  state: State;
}

/** A number greater than that of every member, as an end of ranges. */
export const afterAllNumbers = 2 ** 48;

/** The numbers of members in each state, at the index of the state's code. Index 0 is unused. */
export type Counts = readonly number[];

export const stateCount = 8;

export const emptyTree: TreeNode = { level: 0, parts: [] };

export const emptyCounts = (): number[] => new Array<number>(stateCount).fill(0);

const countsOfStates: Counts[] = emptyCounts().map((_, state) => emptyCounts().with(state, 1));

export const countsOfState = (state: State): Counts => countsOfStates[state] ?? emptyCounts();

export const addCounts = (counts: Counts, others: Counts): Counts => counts.map((count, state) => count + (others[state] ?? 0));

export const asPart = ({ number, state }: Member): Part => ({ number, counts: countsOfState(state) });

/** Returns the code of a member's state. 0 if there is no member. */
export const stateOf = (member: Part | undefined): State => (member ? member.counts.indexOf(1) : 0);

export function asChild(node: TreeNode): Part {
  const [first] = node.parts;
  if (!first) throw new TypeError('An empty node has no place.');
  return { number: first.number, counts: countsOf(node), node };
}

export const isLeaf = ({ level }: TreeNode): boolean => level === 0;

export function countsOf({ parts }: TreeNode): Counts {
  const sums = emptyCounts();
  for (const { counts } of parts) counts.forEach((count, state) => (sums[state] = (sums[state] ?? 0) + count));
  return sums;
}

export function sumOf(counts: Counts, states: ReadonlySet<State>): number {
  let sum = 0;
  for (const state of states) sum += counts[state] ?? 0;
  return sum;
}

export type Range = readonly [from: number, to: number];

/**
 * Returns the range of member numbers that a child of a node covers, without its end. The first child also covers smaller numbers
 * than its own.
 */
export function rangeOf({ parts }: TreeNode, index: number): Range {
  return [index === 0 ? 0 : (parts[index]?.number ?? 0), parts[index + 1]?.number ?? afterAllNumbers];
}

export const within = <T extends { number: number }>(sorted: readonly T[], [from, to]: Range): readonly T[] =>
  sorted.slice(indexFrom(sorted, from), indexFrom(sorted, to));

function indexFrom(sorted: readonly { number: number }[], number: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.number ?? number) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The exclusive upper bounds of the two random integers in the identifier of a node: 63 bits, which take nine bytes. */
const idParts = [2 ** 35, 2 ** 28];

export const newNodeId = (): string => idParts.map((end) => randomInt(end).toString(36)).join('.');

const largestId = idParts.map((end) => (end - 1).toString(36)).join('.');

function integersOf({ number, counts, id }: Part, level: number, before: number): number[] {
  const step = number - before;
  if (level === 0) return [step * stateCount + counts.indexOf(1)];
  if (id === undefined) throw new TypeError('A child of a stored node needs an identifier.');
  return [step, ...integersOfCounts(counts), ...id.split('.').map((part) => Number.parseInt(part, 36))];
}

/** Returns the most bytes that a member or child takes in an encoded node, so that a node can be split without encoding it. */
export function sizeOf(part: Part, level: number, before = 0): number {
  return encodeIntegers(integersOf({ id: largestId, ...part }, level, before)).length;
}

export function encodeNode({ level, parts }: TreeNode): Uint8Array {
  const ofParts = parts.flatMap((part, index) => integersOf(part, level, parts[index - 1]?.number ?? 0));
  return encodeIntegers([level, ...ofParts]);
}

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
 * Encodes the nodes on the right edge of a tree, from the root to the last leaf. Each is encoded without its last child, which is
 * the next node of the edge and changes with every new member.
 */
export function encodeEdge(tree: TreeNode): Uint8Array[] {
  if (isLeaf(tree)) return [encodeNode(tree)];
  const below = tree.parts.at(-1)?.node;
  return [encodeNode({ ...tree, parts: tree.parts.slice(0, -1) }), ...(below ? encodeEdge(below) : [])];
}

/**
 * Decodes the nodes on the right edge of a tree, and returns the root.
 * @throws Error if the bytes are not the right edge of a tree; an internal error
 */
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

/**
 * Encodes integers from 0 to 2^53 - 1 as bytes: seven bits a byte, the lowest first. The highest bit of a byte says that another
 * byte of the integer follows.
 */
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

/** Returns counts as integers to encode: first a bit for each state that has members, then the counts of these states. */
export function integersOfCounts(counts: Counts): number[] {
  const bits = counts.reduce((sum, count, state) => (count > 0 ? sum | (1 << state) : sum), 0);
  return [bits, ...counts.filter((count) => count > 0)];
}

export function integersIn(bytes: Uint8Array) {
  let position = 0;
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
