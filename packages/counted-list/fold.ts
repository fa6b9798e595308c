import { randomBytes } from 'node:crypto';
import { clearFolds, isCommitted, seeFolds, writePlan } from './clear.ts';
import { addDays, addSteps, decodeDays, divideDays, encodeDays } from './days.ts';
import { commitHead, type Fold, foldedVersion, type Head, newestInHead, readHead, treeOf, upperEdge, withTree } from './head.ts';
import { type Key, type ListKeys, rootOf } from './keys.ts';
import { countSteps, differencesOf, type Entry, readLog, unfoldedOf } from './log.ts';
import { markList, readMark } from './backlog.ts';
import { encodeNode, type TreeNode } from './node.ts';
import { type Item, type ListTable, putItems } from './table.ts';
import { changeTree } from './tree.ts';
import { GoneError, readRoot, type Root, storedNodes } from './view.ts';

/** For changes that are mostly among the newest members, which share the nodes that a fold writes. */
const leastAmongNewest = 32;
/**
 * Changes of members that are far apart write a leaf each, and share only the inner nodes above. An inner node has about 38,000
 * members. Every 100 changes in the log cost each read two more read units, so smaller lists wait for fewer changes.
 */
const farApart = { least: 160, most: 800, membersPerChange: 19_000 };
/** Folded entries stay in the log for a while, and the head names them: the more there are, the more a fold costs. */
const leastShareOfLog = 1 / 8;
/** The plan names each node that the fold writes or replaces, in one item of at most 400 KB. */
const mostChanges = 2_000;
/** Each takes up to 13 bytes of the head. They may take half of what one item may have. */
const mostNamed = 15_000;

export interface FoldedStep {
  /** The changes that the tree did not contain. */
  unfolded: number;
  /** How many of them it contains now. */
  folded: number;
  /** The folds whose entries and old nodes are still there. */
  pending: number;
}

export interface FoldOptions {
  /** The fewest changes to fold. Default: as many as make a fold worth its cost. */
  least?: number | undefined;
  /** Called with the numbers of members that were not in the state that they changed from. */
  onDrift?: ((numbers: readonly number[]) => void) | undefined;
}

/**
 * Moves changes from the log into the tree, in new nodes, and deletes what earlier folds replaced. It may be called at any time, also
 * by several callers at once, and may die at any call: only the conditional write of the head commits it.
 */
export async function foldStep(table: ListTable, keys: ListKeys, { least, onDrift }: FoldOptions): Promise<FoldedStep> {
  // In this order: what another process deletes meanwhile is in folds that the head names, or the commit fails.
  const head = await readHead(table, keys);
  const [entries, mark] = await Promise.all([readLog(table, keys), readMark(table, keys)]);
  const unfolded = unfoldedOf(entries, (number) => foldedVersion(head, number));
  const steps = countSteps(unfolded);
  const nothing = { unfolded: steps, folded: 0, pending: head.folds.length };
  if ((head.held_until ?? 0) > table.clock.now()) return nothing;
  const isWorthIt = steps > 0 && steps >= (least ?? leastToFold(head, entries, unfolded));
  if (steps + head.folds.length > 0) await markList(table, keys, mark, isWorthIt);
  const cleared = await clearFolds(table, keys, head, entries);
  const folds = head.folds.filter((fold) => !cleared.includes(fold));
  const next: Head = { ...head, version: head.version + 1, folds };
  const part = isWorthIt ? partToFold(unfolded, folds) : [];
  if (part.length === 0) {
    if (cleared.length > 0) await commitHead(table, keys, next);
    return { ...nothing, pending: folds.length };
  }
  const isFolded = await foldPart(table, keys, { head, next, part, onDrift });
  return { unfolded: steps, folded: isFolded ? countSteps(part) : 0, pending: folds.length + 1 };
}

/** Returns how many changes make a fold worth its cost. */
function leastToFold(head: Head, entries: readonly Entry[], unfolded: readonly Entry[]): number {
  const { from } = newestInHead(head);
  const old = unfolded.filter(({ number }) => number < from).length;
  const members = head.totals.reduce((sum, count) => sum + count, 0);
  const { most, membersPerChange } = farApart;
  const apart = Math.min(most, Math.max(farApart.least, members / membersPerChange));
  const least = old > unfolded.length / 2 ? apart : leastAmongNewest;
  return Math.min(mostChanges, Math.max(least, countSteps(entries) * leastShareOfLog));
}

/** Returns the changes that the next fold takes. The others can wait, since each member counts by its own version. */
function partToFold(unfolded: readonly Entry[], folds: readonly Fold[]): readonly Entry[] {
  const named = folds.reduce((sum, { entries }) => sum + entries.size, 0);
  return unfolded.slice(0, Math.max(0, Math.min(mostChanges, mostNamed - named)));
}

interface Part {
  head: Head;
  /** The head of the next version, still with the tree of the one before. */
  next: Head;
  part: readonly Entry[];
  onDrift: FoldOptions['onDrift'];
}

/** @returns whether the fold was committed, as far as its caller knows */
async function foldPart(table: ListTable, keys: ListKeys, { head, next, part, onDrift }: Part): Promise<boolean> {
  const written = await writeFold(table, keys, { head, next, part }).catch(async (error: unknown) => {
    // Another fold was committed meanwhile, long enough ago that what it replaced is deleted.
    const isLost = error instanceof GoneError && (await readHead(table, keys)).version !== head.version;
    if (!isLost) throw error;
  });
  if (!written) return false;
  const { name, committing, unexpected } = written;
  if (!(await commitHead(table, keys, committing)) && !(await isCommitted(table, keys, name))) return false;
  // The commit has been answered: from now on no read begins with an older head.
  seeFolds(table, keys, committing.folds);
  if (unexpected.length > 0) onDrift?.(unexpected);
  return true;
}

/** Names sort by the version of the head that they commit. */
export function foldName(version: number): string {
  return `${String(version).padStart(15, '0')}-${randomBytes(6).toString('base64url')}`;
}

/** Writes the new nodes. Nothing refers to them until the head is committed. */
async function writeFold(
  table: ListTable,
  keys: ListKeys,
  { head, next, part }: Pick<Part, 'head' | 'next' | 'part'>,
): Promise<{ name: string; committing: Head; unexpected: number[] }> {
  const name = foldName(next.version);
  const before = await readRoot(table, keys, head);
  const source = storedNodes(table, keys);
  const { tree, written, dropped, unexpected } = await changeTree(treeOf(head, before.edge), differencesOf(part), source);
  const { recent, old } = divideDays(addSteps(head.days, part), table.clock.now());
  const days = old.size === 0 ? before.days : encodeDays(addDays(decodeDays(before.days), old));
  const root = replaceRoot(keys, { name, head, before, after: { edge: upperEdge(tree), days } });
  const plan = { written: [...written.keys(), ...root.written], dropped: [...dropped, ...root.dropped] };
  if (plan.written.length + plan.dropped.length > 0) {
    await writePlan(table, keys, name, { version: next.version, ...plan });
    await putItems(table, [...nodeItems(keys, written), ...root.items]);
  }
  const entries = new Map(part.map(({ number, steps }) => [number, steps.at(-1)?.version ?? 0]));
  const committing = { ...withTree(next, tree, root.id), days: recent, folds: [...next.folds, { name, entries }] };
  return { name, committing, unexpected };
}

export function nodeItems(keys: ListKeys, written: Iterable<[string, TreeNode]>): (Item & Key)[] {
  return [...written].map(([id, node]) => ({ ...keys.node(id), node: encodeNode(node) }));
}

interface ReplacedRoot {
  /** Absent where there is nothing to store. */
  id: string | undefined;
  items: (Item & Key)[];
  written: string[];
  dropped: string[];
}

/** The root is mostly stored already: new members change no more than the head. */
function replaceRoot(
  keys: ListKeys,
  { name, head, before, after }: { name: string; head: Head; before: Root; after: Root },
): ReplacedRoot {
  if (textOf(after) === textOf(before)) return { id: head.root, items: [], written: [], dropped: [] };
  const dropped = head.root === undefined ? [] : [head.root];
  if (after.edge.length + after.days.length === 0) return { id: undefined, items: [], written: [], dropped };
  const id = rootOf(name);
  return { id, items: [{ ...keys.node(id), ...after }], written: [id], dropped };
}

function textOf({ edge, days }: Root): string {
  return [...edge, days].map((bytes) => Buffer.from(bytes).toString('base64')).join();
}
