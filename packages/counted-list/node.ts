import { randomBytes } from 'node:crypto';

/**
 * The nodes of a counted tree: members sorted by number, with counts by state, from which a total and the members at any position
 * are read in a few steps. Nodes are immutable: a change writes new nodes, up to a new root.
 */
export type TreeNode = Leaf | InnerNode;

/** The code of a state: 1 to 7. The code 0 stands for no member. */
export type State = number;

export interface Member {
  /** 1 to 2^48 - 1. */
  number: number;
  state: State;
}

/** Greater than every number. */
export const afterAllNumbers = 2 ** 48;

export interface Leaf {
  level: 0;
  members: Member[];
}

export interface InnerNode {
  /** The number of levels below. */
  level: number;
  children: Child[];
}

export interface Child {
  /** The first number that the node contained when it was written. All its members are at it or after it. */
  first: number;
  counts: Counts;
  /** The identifier of the stored node. Absent while the node is new, and on the right edge of the tree. */
  id?: string;
  /** The node, if it has been read. */
  node?: TreeNode;
}

/** The number of members in each state. The index is the state; index 0 is unused. */
export type Counts = readonly number[];

export const stateCount = 8;

export const emptyTree: TreeNode = { level: 0, members: [] };

export function emptyCounts(): number[] {
  return new Array<number>(stateCount).fill(0);
}

export function isLeaf(node: TreeNode): node is Leaf {
  return node.level === 0;
}

/** Returns the index of the first of the sorted entries that is at the number or after it. */
export function indexFrom<T>(sorted: readonly T[], number: number, numberOf: (entry: T) => number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numberOf(sorted[middle] as T) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function countsOf(node: TreeNode): Counts {
  const counts = emptyCounts();
  if (isLeaf(node)) {
    for (const { state } of node.members) counts[state] = (counts[state] ?? 0) + 1;
  } else {
    for (const child of node.children) child.counts.forEach((count, state) => (counts[state] = (counts[state] ?? 0) + count));
  }
  return counts;
}

/** Returns the number of members in the given states. */
export function sumOf(counts: Counts, states: ReadonlySet<State>): number {
  let sum = 0;
  for (const state of states) sum += counts[state] ?? 0;
  return sum;
}

const longestShortStep = 31;
const idBytes = 8;

export function newNodeId(): string {
  return randomBytes(idBytes).toString('base64url');
}

/**
 * Encodes a node. Members next to each other take one byte.
 * @param isOnEdge whether the node is on the right edge of its tree. Its last child then has neither an identifier nor counts:
 *   they change with every new member, and are those of the next node on the edge.
 */
export function encodeNode(node: TreeNode, isOnEdge: boolean): Uint8Array {
  const writer = new ByteWriter();
  writer.byte(node.level);
  let before = 0;
  if (isLeaf(node)) {
    for (const { number, state } of node.members) {
      const step = number - before;
      const isShort = step <= longestShortStep;
      writer.byte(((isShort ? step : 0) << 3) | state);
      if (!isShort) writer.integer(step);
      before = number;
    }
    return writer.bytes();
  }
  for (const [index, { first, counts, id }] of node.children.entries()) {
    const isLastOnEdge = isOnEdge && index === node.children.length - 1;
    writer.counts(isLastOnEdge ? emptyCounts() : counts);
    writer.integer(first - before);
    if (!isLastOnEdge) writer.fixed(Buffer.from(id ?? '', 'base64url'), idBytes);
    before = first;
  }
  return writer.bytes();
}

/** @throws Error if the bytes are no node; an internal error */
export function decodeNode(bytes: Uint8Array, isOnEdge: boolean): TreeNode {
  const reader = new ByteReader(bytes);
  const level = reader.byte();
  let number = 0;
  if (level === 0) {
    const members: Member[] = [];
    while (!reader.isAtEnd()) {
      const byte = reader.byte();
      number += byte >> 3 || reader.integer();
      members.push({ number, state: byte & 7 });
    }
    return { level: 0, members };
  }
  const children: Child[] = [];
  while (!reader.isAtEnd()) {
    const counts = reader.counts();
    number += reader.integer();
    const isLastOnEdge = isOnEdge && reader.isAtEnd();
    children.push({ first: number, counts, ...(isLastOnEdge ? {} : { id: reader.fixed(idBytes).toString('base64url') }) });
  }
  return { level, children };
}

/** Returns the most bytes that each member or child of a node takes, so that a node can be split without encoding it again. */
export function sizesOf(node: TreeNode): number[] {
  if (isLeaf(node)) {
    return node.members.map(({ number }, index) => {
      const step = number - (node.members[index - 1]?.number ?? 0);
      return 1 + (step <= longestShortStep ? 0 : lengthOfInteger(step));
    });
  }
  return node.children.map(({ first, counts }, index) => {
    const step = lengthOfInteger(first - (node.children[index - 1]?.first ?? 0));
    return 1 + step + counts.reduce((sum, count) => sum + (count && lengthOfInteger(count)), 0) + idBytes;
  });
}

/**
 * Encodes the right edge of a tree, from the root to the last leaf, without the counts that follow from the nodes below. All other
 * nodes are stored by their identifiers.
 */
export function encodeEdge(tree: TreeNode): Uint8Array[] {
  const edge: Uint8Array[] = [];
  for (let node: TreeNode | undefined = tree; node; node = isLeaf(node) ? undefined : node.children.at(-1)?.node) {
    edge.push(encodeNode(node, true));
  }
  return edge;
}

/** @throws Error if the bytes are not the right edge of a tree; an internal error */
export function decodeEdge(edge: readonly Uint8Array[]): TreeNode {
  let below: TreeNode | undefined;
  for (const bytes of edge.toReversed()) {
    const node = decodeNode(bytes, true);
    const last = isLeaf(node) ? undefined : node.children.at(-1);
    if ((below !== undefined) !== (last !== undefined)) throw new Error('The stored edge of a tree is incomplete.');
    if (last && below) Object.assign(last, { node: below, counts: countsOf(below) });
    below = node;
  }
  return below ?? emptyTree;
}

/** Returns the bytes that ByteWriter.integer takes. */
export function lengthOfInteger(value: number): number {
  let length = 1;
  for (let left = value; left >= 128; left = Math.floor(left / 128)) length++;
  return length;
}

/** Writes one value after another. */
export class ByteWriter {
  private readonly written: number[] = [];

  byte(value: number): void {
    this.written.push(value);
  }

  /** An integer from 0 to 2^53 - 1, seven bits a byte, the lowest first. The highest bit of a byte says that another follows. */
  integer(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`Expected an integer from 0, not ${value}.`);
    let left = value;
    while (left >= 128) {
      this.written.push((left % 128) | 128);
      left = Math.floor(left / 128);
    }
    this.written.push(left);
  }

  /** A byte with a bit for each state that has members, and their counts. */
  counts(counts: Counts): void {
    this.byte(counts.reduce((bits, count, state) => (count ? bits | (1 << state) : bits), 0));
    for (const count of counts) if (count) this.integer(count);
  }

  /** A text, after its length in bytes. */
  text(value: string): void {
    const bytes = Buffer.from(value, 'utf8');
    this.integer(bytes.length);
    this.written.push(...bytes);
  }

  fixed(bytes: Uint8Array, length: number): void {
    if (bytes.length !== length) throw new TypeError(`Expected ${length} bytes, not ${bytes.length}.`);
    this.written.push(...bytes);
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.written);
  }
}

/** Reads what ByteWriter wrote. @throws Error if bytes are missing; an internal error */
export class ByteReader {
  private position = 0;
  private readonly source: Buffer;

  constructor({ buffer, byteOffset, length }: Uint8Array) {
    this.source = Buffer.from(buffer, byteOffset, length);
  }

  isAtEnd(): boolean {
    return this.position >= this.source.length;
  }

  byte(): number {
    const byte = this.source[this.position++];
    if (byte === undefined) throw new Error('A stored node of a list ends too early.');
    return byte;
  }

  integer(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  counts(): number[] {
    const bits = this.byte();
    return emptyCounts().map((_, state) => (bits & (1 << state) ? this.integer() : 0));
  }

  text(): string {
    return this.fixed(this.integer()).toString('utf8');
  }

  fixed(length: number): Buffer {
    const start = this.position;
    this.position += length;
    if (this.position > this.source.length) throw new Error('A stored node of a list ends too early.');
    return this.source.subarray(start, this.position);
  }
}
