import { randomBytes } from 'node:crypto';
import { nodeKeyBytes } from '../table/keys.ts';

/**
 * The nodes of a counted tree: an ordered set of members with counts by state, from which a total and the members at any
 * position are read in a few steps. Nodes are immutable: a change writes new nodes, up to a new root.
 *
 * Members are sorted by group, then by number. In the tree of a list itself all members have the group ''. In the tree of a
 * filter the group is the value that is filtered by.
 */
export interface Place {
  group: string;
  /** 1 to 2^48 - 1. */
  number: number;
}

/** A value that a list is filtered by, as its code: 1 to 7. The code 0 stands for no member. */
export type State = number;

/** Greater than every number that a list issues. Ends a range that has no other end. */
export const afterAllNumbers = 2 ** 48;

export interface Member extends Place {
  state: State;
}

export interface Leaf {
  level: 0;
  members: Member[];
}

export interface InnerNode {
  /** The number of levels below. */
  level: number;
  children: Child[];
}

export type TreeNode = Leaf | InnerNode;

export interface Child {
  /** The first place that the node contained when it was written. All its members are at it or after it. */
  first: Place;
  counts: Counts;
  /** The identifier of the stored node. Absent while the node is new, and on the right edge of the tree. */
  id?: string;
  /** The node, if it has been read. */
  node?: TreeNode;
}

/** The number of members in each state. The index is the state; index 0 is unused. */
export type Counts = readonly number[];

export const stateCount = 8;

export function emptyCounts(): number[] {
  return new Array<number>(stateCount).fill(0);
}

export function isLeaf(node: TreeNode): node is Leaf {
  return node.level === 0;
}

export function comparePlaces(a: Place, b: Place): number {
  if (a.group !== b.group) return a.group < b.group ? -1 : 1;
  return a.number - b.number;
}

/** Returns the place as a text, for the keys of a map. */
export function placeName({ group, number }: Place): string {
  return `${group}/${number}`;
}

/** Returns the index of the first of the sorted places that is at the place or after it. */
export function indexFrom(sorted: readonly Place[], place: Place): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = sorted[middle];
    if (at && comparePlaces(at, place) < 0) low = middle + 1;
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

/**
 * Encodes a node. Members next to each other take one byte.
 * @param isOnEdge whether the node is on the right edge of its tree. Its last child then has neither an identifier nor counts:
 *   they change with every new member, and are those of the next node on the edge.
 */
export function encodeNode(node: TreeNode, isOnEdge: boolean): Uint8Array {
  const writer = new ByteWriter();
  writer.byte(node.level);
  if (isLeaf(node)) writeMembers(writer, node.members);
  else writeChildren(writer, node, isOnEdge);
  return writer.bytes();
}

/** @throws Error if the bytes are no node; an internal error */
export function decodeNode(bytes: Uint8Array, isOnEdge: boolean): TreeNode {
  const reader = new ByteReader(bytes);
  const level = reader.byte();
  const node: TreeNode =
    level === 0 ? { level: 0, members: readMembers(reader) } : { level, children: readChildren(reader, isOnEdge) };
  reader.assertEnd();
  return node;
}

/** Returns the most bytes that each member or child of a node takes, so that a node can be split without encoding it again. */
export function sizesOf(node: TreeNode): number[] {
  const places: Place[] = isLeaf(node) ? node.members : node.children.map(({ first }) => first);
  let ofGroup = 0;
  return places.map((place, index) => {
    const before = places[index - 1];
    const isSameGroup = before !== undefined && before.group === place.group;
    const step = isSameGroup ? place.number - before.number : place.number;
    const group = isSameGroup ? 0 : 1 + Buffer.byteLength(place.group);
    ofGroup = isSameGroup ? ofGroup + 1 : 1;
    if (isLeaf(node)) {
      const ofCount = lengthOfInteger(ofGroup) - (isSameGroup ? lengthOfInteger(ofGroup - 1) : 0);
      return 1 + (step <= longestShortStep ? 0 : lengthOfInteger(step)) + group + ofCount;
    }
    const counts = node.children[index]?.counts ?? [];
    return (
      1 + group + lengthOfInteger(step) + counts.reduce((sum, count) => sum + (count && lengthOfInteger(count)), 0) + idBytes
    );
  });
}

/** Members of one group follow each other: the group, their number, then for each the step from the member before and its state. */
function writeMembers(writer: ByteWriter, members: readonly Member[]): void {
  for (let start = 0; start < members.length;) {
    const group = members[start]?.group ?? '';
    let end = start;
    while (end < members.length && members[end]?.group === group) end++;
    writer.text(group);
    writer.integer(end - start);
    let before = 0;
    for (const { number, state } of members.slice(start, end)) {
      const step = number - before;
      const isShort = step <= longestShortStep;
      writer.byte(((isShort ? step : 0) << 3) | state);
      if (!isShort) writer.integer(step);
      before = number;
    }
    start = end;
  }
}

function readMembers(reader: ByteReader): Member[] {
  const members: Member[] = [];
  while (!reader.isAtEnd) {
    const group = reader.text();
    let number = 0;
    for (let left = reader.integer(); left > 0; left--) {
      const byte = reader.byte();
      number += byte >> 3 || reader.integer();
      members.push({ group, number, state: byte & 7 });
    }
  }
  return members;
}

/** For each child: a byte with a bit for each state that has members, its first place, its counts, its identifier. */
function writeChildren(writer: ByteWriter, { children }: InnerNode, isOnEdge: boolean): void {
  let before: Place = { group: '', number: 0 };
  for (const [index, { first, counts, id }] of children.entries()) {
    const isSameGroup = first.group === before.group;
    const isLastOnEdge = isOnEdge && index === children.length - 1;
    const written = isLastOnEdge ? emptyCounts() : counts;
    let bits = isSameGroup ? 1 : 0;
    for (let state = 1; state < stateCount; state++) if (written[state]) bits |= 1 << state;
    writer.byte(bits);
    if (!isSameGroup) writer.text(first.group);
    writer.integer(isSameGroup ? first.number - before.number : first.number);
    for (let state = 1; state < stateCount; state++) if (written[state]) writer.integer(written[state] ?? 0);
    if (!isLastOnEdge) writer.fixed(Buffer.from(id ?? '', 'base64url'), idBytes);
    before = first;
  }
}

function readChildren(reader: ByteReader, isOnEdge: boolean): Child[] {
  const children: Child[] = [];
  let before: Place = { group: '', number: 0 };
  while (!reader.isAtEnd) {
    const bits = reader.byte();
    const first: Place =
      bits & 1
        ? { group: before.group, number: before.number + reader.integer() }
        : { group: reader.text(), number: reader.integer() };
    const counts = Array.from({ length: stateCount }, (_, state) => (state > 0 && bits & (1 << state) ? reader.integer() : 0));
    before = first;
    const id = isOnEdge ? reader.rest(idBytes) : reader.fixed(idBytes);
    children.push(id.length === 0 ? { first, counts } : { first, counts, id: id.toString('base64url') });
  }
  return children;
}

/** Writes bytes, texts and integers one after another. */
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

/** Returns the bytes that ByteWriter.integer takes. */
export function lengthOfInteger(value: number): number {
  let length = 1;
  for (let left = value; left >= 128; left = Math.floor(left / 128)) length++;
  return length;
}

/** Reads what ByteWriter wrote. @throws Error if bytes are missing or left over; an internal error */
export class ByteReader {
  private position = 0;
  private readonly source: Buffer;

  constructor({ buffer, byteOffset, length }: Uint8Array) {
    this.source = Buffer.from(buffer, byteOffset, length);
  }

  get isAtEnd(): boolean {
    return this.position >= this.source.length;
  }

  byte(): number {
    const byte = this.source[this.position++];
    if (byte === undefined) throw new Error('A stored node ends too early.');
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

  text(): string {
    return this.fixed(this.integer()).toString('utf8');
  }

  fixed(length: number): Buffer {
    const start = this.position;
    this.position += length;
    if (this.position > this.source.length) throw new Error('A stored node ends too early.');
    return this.source.subarray(start, this.position);
  }

  /** Like fixed, but returns no bytes at the end. */
  rest(length: number): Buffer {
    return this.fixed(Math.min(length, this.source.length - this.position));
  }

  assertEnd(): void {
    if (!this.isAtEnd) throw new Error('A stored node has bytes left over.');
  }
}

/**
 * The identifier of a stored node: the key of its item, and the name of its version there. A version never changes, and no name is
 * given twice. So a write that arrives late changes no node that a tree contains, although a new node may take the place of one that
 * no tree contains any more: that is one write, and no deletion.
 */
const versionBytes = 3;
const idBytes = nodeKeyBytes + versionBytes;

export function newNodeId(): string {
  return randomBytes(idBytes).toString('base64url');
}

/** Returns the name of the attribute of a node. DynamoDB takes it in an expression as it is. */
export function attributeOfNode(id: string): string {
  return `n${Buffer.from(id, 'base64url').subarray(nodeKeyBytes).toString('hex')}`;
}

/** Returns the identifier of a new node that takes the place of a dead one. */
export function idInPlaceOf(dead: string): string {
  const key = Buffer.from(dead, 'base64url').subarray(0, nodeKeyBytes);
  for (;;) {
    const id = Buffer.concat([key, randomBytes(versionBytes)]).toString('base64url');
    if (id !== dead) return id;
  }
}
