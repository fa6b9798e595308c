import { MalformedError } from './malformed-error.ts';
import { emptyRoot, leafHash, nodeHash, splitOf } from './tree.ts';

/** The number of hashes or entries in a full tile. Tiles have a height of 8. */
const width = 256;
const hashLength = 32;

/**
 * Reads a tile or a bundle of entries by its path, such as `tile/0/x001/067.p/8` or `tile/entries/000`. Returns undefined if there
 * is none. The full tile is then read in place of a partial one.
 */
export type ReadTile = (path: string) => Promise<Uint8Array | undefined>;

/** A tile or a bundle of entries that a log has to store under a path. Neither ever changes. */
export interface TileToWrite {
  path: string;
  bytes: Uint8Array;
}

/** Returns the hash of the perfect subtree of 2^`height` leaves that is the one at `index` among those of its height. */
type HashAt = (height: number, index: number) => Promise<Uint8Array>;

/** Returns the root of the first `size` entries of a log. @throws MalformedError if a tile is missing or too short */
export async function rootOf(size: number, readTile: ReadTile): Promise<Uint8Array> {
  return size === 0 ? emptyRoot : rangeHash(0, size, hashesIn(size, readTile));
}

/**
 * Returns the inclusion proof of an entry: the hashes beside the path from its leaf to the root, those at the leaf first.
 * @param index the place of the entry, from 0 to size - 1
 * @throws RangeError if the log of this size has no such entry
 * @throws MalformedError if a tile is missing or too short
 */
export async function inclusionProof(index: number, size: number, readTile: ReadTile): Promise<Uint8Array[]> {
  if (!(index >= 0 && index < size)) throw new RangeError(`Expected an index from 0 to ${size - 1}, not ${index}.`);
  return Promise.all(descend(size, index + 1, hashesIn(size, readTile), (start, end) => end - start === 1).beside);
}

/**
 * Returns the proof that a log of one size is the beginning of the log of a later size. Empty if the first size is 0 or the later one.
 * @throws RangeError if the first size is greater
 * @throws MalformedError if a tile is missing or too short
 */
export async function consistencyProof(from: number, to: number, readTile: ReadTile): Promise<Uint8Array[]> {
  if (!(from >= 0 && from <= to)) throw new RangeError(`Expected a size from 0 to ${to}, not ${from}.`);
  if (from === 0) return [];
  const hashAt = hashesIn(to, readTile);
  const { start, end, beside } = descend(to, from, hashAt, (_, end) => end === from);
  if (start > 0) beside.unshift(rangeHash(start, end, hashAt));
  return Promise.all(beside);
}

/**
 * Adds entries to a log, and returns its new root with the tiles and bundles that the log of the new size has and that of the old
 * size has not. Writes nothing.
 * @param size how many entries the log has before
 * @throws RangeError if an entry is longer than 65,535 bytes
 * @throws MalformedError if a tile of the old size is missing or too short
 */
export async function appendEntries(
  size: number,
  entries: readonly Uint8Array[],
  readTile: ReadTile,
): Promise<{ size: number; root: Uint8Array; tiles: TileToWrite[] }> {
  const kept = remembering(readTile);
  const tiles = await appendTo('entries', size, entries.map(bundled), kept);
  let added = entries.map(leafHash);
  let count = size;
  for (let level = 0; added.length > 0; level += 1) {
    const hashes = await appendTo(level, count, added, kept);
    tiles.push(...hashes);
    added = hashes.filter(({ bytes }) => bytes.length === width * hashLength).map(({ bytes }) => perfectHash(partsOf(bytes)));
    count = Math.floor(count / width);
  }
  const written = new Map(tiles.map(({ path, bytes }) => [path, bytes]));
  const grown = size + entries.length;
  return { size: grown, root: await rootOf(grown, async (path) => written.get(path) ?? kept(path)), tiles };
}

/**
 * Reads the entries of a log from one index up to another, which it leaves out. Nothing is verified: compare their leaf hashes.
 * @param size the size of the log, which decides the widths of its last bundle
 * @throws MalformedError if a bundle is missing or has another form
 */
export async function readEntries(from: number, to: number, size: number, readTile: ReadTile): Promise<Uint8Array[]> {
  const entries: Uint8Array[] = [];
  for (let index = Math.floor(from / width); index * width < to; index += 1) {
    const bundle = entriesIn(await readWidth('entries', index, Math.min(width, size - index * width), readTile));
    entries.push(...bundle.slice(Math.max(0, from - index * width), to - index * width));
  }
  return entries;
}

/**
 * Goes from the whole tree down to the part in which the first `count` leaves end. Returns the part, and the hashes of the parts beside the
 * way, the last first.
 */
function descend(size: number, count: number, hashAt: HashAt, isFound: (start: number, end: number) => boolean) {
  const beside: Promise<Uint8Array>[] = [];
  let [start, end] = [0, size];
  while (!isFound(start, end)) {
    const middle = start + splitOf(end - start);
    const isLeft = count <= middle;
    beside.unshift(isLeft ? rangeHash(middle, end, hashAt) : rangeHash(start, middle, hashAt));
    [start, end] = isLeft ? [start, middle] : [middle, end];
  }
  return { start, end, beside };
}

/** Returns the hash of the leaves from `start` to before `end`, as RFC 6962 defines it. `start` must suit the size of the range. */
async function rangeHash(start: number, end: number, hashAt: HashAt): Promise<Uint8Array> {
  const size = end - start;
  const height = Math.log2(size);
  if (Number.isInteger(height)) return hashAt(height, start / size);
  const middle = start + splitOf(size);
  const [left, right] = await Promise.all([rangeHash(start, middle, hashAt), rangeHash(middle, end, hashAt)]);
  return nodeHash(left, right);
}

/** Reads hashes of a log of a size from its tiles, each tile once. */
function hashesIn(size: number, readTile: ReadTile): HashAt {
  const kept = remembering(readTile);
  return async (height, index) => {
    const level = Math.floor(height / 8);
    const count = 2 ** (height % 8);
    const first = index * count;
    const tile = Math.floor(first / width);
    const wide = Math.min(width, Math.floor(size / width ** level) - tile * width);
    const bytes = await readWidth(level, tile, wide, kept);
    const at = (first % width) * hashLength;
    return perfectHash(partsOf(bytes.subarray(at, at + count * hashLength)));
  };
}

/** Returns the root of a tree whose number of leaves is a power of two. */
function perfectHash(hashes: Uint8Array[]): Uint8Array {
  let row = hashes;
  while (row.length > 1) row = row.flatMap((left, at) => (at % 2 === 0 ? [nodeHash(left, row[at + 1] ?? emptyRoot)] : []));
  return row[0] ?? emptyRoot;
}

const partsOf = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: bytes.length / hashLength }, (_, at) => bytes.subarray(at * hashLength, (at + 1) * hashLength));

function remembering(readTile: ReadTile): ReadTile {
  const read = new Map<string, ReturnType<ReadTile>>();
  return (path) => {
    const found = read.get(path) ?? readTile(path);
    read.set(path, found);
    return found;
  };
}

type Level = number | 'entries';

/** Returns the tiles of a level after parts were added to the `count` parts that it has. */
async function appendTo(level: Level, count: number, added: readonly Uint8Array[], readTile: ReadTile): Promise<TileToWrite[]> {
  if (added.length === 0) return [];
  const tiles: TileToWrite[] = [];
  const end = count + added.length;
  for (let tile = Math.floor(count / width); tile * width < end; tile += 1) {
    const [start, stop] = [Math.max(count, tile * width), Math.min(end, (tile + 1) * width)];
    const old = start > tile * width ? await readWidth(level, tile, count % width, readTile) : new Uint8Array();
    const bytes = joined([old, ...added.slice(start - count, stop - count)]);
    tiles.push({ path: tilePath(level, tile, stop - tile * width), bytes });
  }
  return tiles;
}

/** Reads the first `wide` parts of a tile, from the full tile if there is no partial one of this width. */
async function readWidth(level: Level, tile: number, wide: number, readTile: ReadTile): Promise<Uint8Array> {
  const path = tilePath(level, tile, wide);
  const bytes = (await readTile(path)) ?? (wide < width ? await readTile(tilePath(level, tile, width)) : undefined);
  if (bytes === undefined) throw new MalformedError(`The log has no ${path}.`);
  const length = level === 'entries' ? lengthOfBundled(bytes, wide) : wide * hashLength;
  if (bytes.length < length) throw new MalformedError(`The log's ${path} has ${bytes.length} bytes, not ${length}.`);
  return bytes.subarray(0, length);
}

/** Returns the path of a tile, or of a bundle of entries. @param wide how many hashes or entries it has, 1 to 256 */
function tilePath(level: Level, tile: number, wide: number): string {
  const digits = String(tile);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.../g) ?? [];
  const place = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
  return `tile/${level}/${place}${wide < width ? `.p/${wide}` : ''}`;
}

/** Returns an entry as it is in a bundle: its length in two bytes, then the entry. */
function bundled(entry: Uint8Array): Uint8Array {
  if (entry.length > 0xffff) throw new RangeError(`Expected an entry of at most 65,535 bytes, not ${entry.length}.`);
  return joined([Uint8Array.of(entry.length >> 8, entry.length & 0xff), entry]);
}

function entriesIn(bundle: Uint8Array): Uint8Array[] {
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bundle.length;) {
    const end = endOfEntry(bundle, at);
    entries.push(bundle.subarray(at + 2, end));
    at = end;
  }
  return entries;
}

function lengthOfBundled(bundle: Uint8Array, count: number): number {
  let at = 0;
  for (let entry = 0; entry < count; entry += 1) at = endOfEntry(bundle, at);
  return at;
}

const endOfEntry = (bundle: Uint8Array, at: number) => at + 2 + (bundle[at] ?? 0) * 256 + (bundle[at + 1] ?? 0);

const joined = (parts: readonly Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));
