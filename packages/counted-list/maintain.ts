import { randomBytes } from 'node:crypto';
import { foldName, foldStep, graceInMilliseconds, nodeItems, withTree } from './fold.ts';
import { commitHead, divideEdge, foldedVersion, type Head, readHead } from './head.ts';
import type { ListKeys } from './keys.ts';
import { readLog, unfoldedOf } from './log.ts';
import { afterAllNumbers, type Child, countsOf, isLeaf, type Member, sizesOf, type TreeNode } from './node.ts';
import { membersBetween } from './select.ts';
import { deleteItems, type ListTable, putItems, queryPrefix } from './table.ts';
import { asChild, changeTree, childOf, joinLevels, nameNewNodes } from './tree.ts';
import { readTree, storedNodes, withMoment } from './view.ts';

/** Reads the rows of a list, as members: those from a number on, sorted, up to a limit. Fewer only at the end. */
export type ReadRows = (from: number, limit: number) => Promise<Member[]>;

export interface CheckedPage {
  rows: number;
  /** What differs, as sentences. */
  differences: string[];
  /** Where the next page begins; undefined after the last one. */
  next: number | undefined;
}

const rowsPerCheck = 500;
/** Rows and list are read at different moments, so what differs is read again. A change that is under way is over by then. */
const reads = 3;
const pauseInMilliseconds = 1_500;

/** Compares a list with its rows from a number on, page by page, while changes go on; its counts with each other at the end. */
export async function* checkList(table: ListTable, keys: ListKeys, rows: ReadRows, first = 1): AsyncGenerator<CheckedPage, void> {
  for (let from: number | undefined = first; from !== undefined;) {
    let page = await comparePage(table, keys, rows, from);
    for (let read = 1; read < reads && page.differences.length > 0; read++) {
      await table.clock.wait(pauseInMilliseconds);
      const again = await comparePage(table, keys, rows, from);
      page = { ...again, differences: again.differences.filter((each) => page.differences.includes(each)) };
    }
    if (page.next === undefined) page.differences.push(...(await compareTotals(table, keys)));
    yield page;
    from = page.next;
  }
}

async function comparePage(table: ListTable, keys: ListKeys, rows: ReadRows, from: number): Promise<CheckedPage> {
  return await withMoment(table, keys, async (moment) => {
    const members = await rows(from, rowsPerCheck);
    const next = members.length < rowsPerCheck ? undefined : (members.at(-1)?.number ?? 0) + 1;
    const differences = new Set<string>();
    const compareCounts = (child: Child, node: TreeNode) => {
      if (countsOf(node).join() === child.counts.join()) return;
      differences.add(
        `the node from number ${child.first} on counts ${countsOf(node).join()}, its parent ${child.counts.join()}`,
      );
    };
    const listed = await membersBetween(await moment.view(), from, next ?? afterAllNumbers, compareCounts);
    const states = new Map(listed.map(({ number, state }) => [number, { row: 0, list: state }]));
    for (const { number, state } of members) states.set(number, { row: state, list: states.get(number)?.list ?? 0 });
    for (const [number, { row, list }] of states) {
      if (row !== list) differences.add(`number ${number} is in state ${row}, in the list in state ${list}`);
    }
    return { rows: members.length, differences: [...differences], next };
  });
}

/** Compares the totals of the head with those of the tree, at one moment. */
function compareTotals(table: ListTable, keys: ListKeys): Promise<string[]> {
  return withMoment(table, keys, async ({ head, view }) => {
    const counts = countsOf((await view()).tree);
    const totals = counts.map((_, state) => head.totals[state] ?? 0);
    return counts.join() === totals.join() ? [] : [`the head counts ${totals.join()}, the tree ${counts.join()}`];
  });
}

const rowsPerRead = 2_000;
/** A rebuild that dies holds the list for so long. */
const holdInMilliseconds = 120_000;
/** DynamoDB shows a transaction item by item, mostly within milliseconds; it documents no limit. */
const transactionShowsInMilliseconds = 2_000;
/** Below what a leaf may have, so that a change or two do not split it. */
const bytesPerLeaf = 850;
const leavesPerWrite = 1_000;

/** Thrown if another rebuild holds a list, or has taken it over. */
export class HeldError extends Error {
  override readonly name = 'HeldError';
}

/**
 * Builds the tree of a list anew from its rows, while the list changes. Meanwhile nothing is folded, so every change since the
 * beginning is in the log: a member that the log mentions gets the state that it had before. With the log on top, the new tree shows
 * what the rows do. A rebuild that dies is begun again.
 * @param onRows called with the number of rows that were read since the last call
 * @throws HeldError
 */
export async function rebuildList(
  table: ListTable,
  keys: ListKeys,
  rows: ReadRows,
  onRows: (rows: number) => void = () => undefined,
): Promise<void> {
  // Rows count that were changed without the log after their last logged change. A damaged tree cannot be folded.
  await foldStep(table, keys, { least: 1 }).catch(() => undefined);
  const hold = await Hold.take(table, keys);
  const read = async function* (): AsyncGenerator<Member, void> {
    for (let from = 1, count = rowsPerRead; count === rowsPerRead;) {
      const members = await rows(from, rowsPerRead);
      yield* members;
      count = members.length;
      from = (members.at(-1)?.number ?? 0) + 1;
      onRows(count);
      await hold.renew();
    }
  };
  const ofRows = await buildTree(table, keys, read());
  // A change whose row was read must be in the log by now.
  await table.clock.wait(transactionShowsInMilliseconds);
  const unfolded = unfoldedOf(await readLog(table, keys), (member) => foldedVersion(hold.head, member));
  const before = unfolded
    .map(({ number, steps }) => ({ number, state: steps[0]?.before ?? 0 }))
    .sort((a, b) => a.number - b.number);
  const { tree, written } = await changeTree(ofRows, before, storedNodes(table, keys));
  await putItems(table, nodeItems(keys, written));
  await hold.renew();
  const { upper } = divideEdge(tree);
  const root = upper.length > 0 ? foldName(hold.head.version + 1) : undefined;
  if (root !== undefined) await putItems(table, [{ ...keys.root(root), edge: upper }]);
  await hold.replace(withTree(hold.head, tree, root));
  // No read that began with the old tree lasts longer.
  await table.clock.wait(graceInMilliseconds);
  await hold.renew();
  await removeUnused(table, keys, hold.head);
  await hold.release();
}

/** Writes the nodes of a tree of sorted members. @returns its root */
async function buildTree(table: ListTable, keys: ListKeys, members: AsyncIterable<Member>): Promise<TreeNode> {
  const leaves: Child[] = [];
  let filled: Member[] = [];
  let bytes = 0;
  let written = 0;
  const write = async () => {
    const named = nameNewNodes({ level: 1, children: leaves.slice(written) });
    await putItems(table, nodeItems(keys, named));
    for (const leaf of leaves.slice(written, -1)) delete leaf.node;
    written = Math.max(0, leaves.length - 1);
  };
  for await (const member of members) {
    bytes += sizesOf({ level: 0, members: [...filled.slice(-1), member] }).at(-1) ?? 0;
    filled.push(member);
    if (bytes < bytesPerLeaf) continue;
    leaves.push(asChild({ level: 0, members: filled }));
    filled = [];
    bytes = 0;
    if (leaves.length - written >= leavesPerWrite) await write();
  }
  if (filled.length > 0) leaves.push(asChild({ level: 0, members: filled }));
  await write();
  const tree = joinLevels(leaves);
  await putItems(table, nodeItems(keys, nameNewNodes(tree)));
  return tree;
}

/** The right to replace the head, while nothing is folded. Ends by itself. */
class Hold {
  private readonly table: ListTable;
  private readonly keys: ListKeys;
  private readonly by: string;
  head: Head;

  private constructor(table: ListTable, keys: ListKeys, head: Head, by: string) {
    [this.table, this.keys, this.head, this.by] = [table, keys, head, by];
  }

  static async take(table: ListTable, keys: ListKeys): Promise<Hold> {
    for (;;) {
      const head = await readHead(table, keys);
      if (head.held && head.held.until > table.clock.now()) throw new HeldError(`Another rebuild holds the list ${keys.name}.`);
      const hold = new Hold(table, keys, head, randomBytes(6).toString('base64url'));
      if (await hold.commit(head, true)) return hold;
      // A fold has come in between.
    }
  }

  /** @throws HeldError if the hold has ended, so that another one has replaced the head */
  async renew(): Promise<void> {
    const left = (this.head.held?.until ?? 0) - this.table.clock.now();
    if (left < holdInMilliseconds / 2) await this.replace(this.head);
  }

  async replace(head: Head): Promise<void> {
    if (!(await this.commit(head, true))) throw new HeldError(`The list ${this.keys.name} has changed during its rebuild.`);
  }

  async release(): Promise<void> {
    await this.commit(this.head, false);
  }

  private async commit({ held: _, ...head }: Head, isHeld: boolean): Promise<boolean> {
    const held = { by: this.by, until: this.table.clock.now() + holdInMilliseconds };
    const next: Head = { ...head, version: this.head.version + 1, ...(isHeld && { held }) };
    if (!(await commitHead(this.table, this.keys, next))) return false;
    this.head = next;
    return true;
  }
}

/** Deletes the nodes, roots, days and plans that the head does not lead to. The list must be held. */
async function removeUnused(table: ListTable, keys: ListKeys, head: Head): Promise<void> {
  const used = new Set<string>([keys.root(head.root ?? '').sk, keys.days(head.old_days ?? '').sk, keys.head.sk]);
  const source = storedNodes(table, keys);
  const addBelow = async (node: TreeNode): Promise<void> => {
    if (isLeaf(node)) return;
    for (const child of node.children) {
      if (child.id !== undefined) used.add(keys.node(child.id).sk);
      if (node.level > 1) await addBelow(await childOf(child, source));
    }
  };
  await addBelow(await readTree(table, keys, head));
  for (const partition of [keys.index, ...keys.nodes]) {
    const items = await queryPrefix(table, partition, keys.prefix, { attributes: ['pk', 'sk'] });
    const unused = items.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })).filter(({ sk }) => !used.has(sk));
    await deleteItems(table, unused);
  }
}
