import { graceInMilliseconds } from './clear.ts';
import { foldName, foldStep, nodeItems } from './fold.ts';
import { type Head, ofTree, readHead, replaceHead, treeOf, upperEdge } from './head.ts';
import { type ListKeys, rootOf } from './keys.ts';
import { readLog, unfoldedOf } from './log.ts';
import { afterAllNumbers, countsOf, emptyTree, isLeaf, type Member, type Part, type TreeNode } from './node.ts';
import { membersBetween } from './select.ts';
import { deleteItems, type ListTable, putItems, queryPrefix } from './table.ts';
import { changeTree, childOf } from './tree.ts';
import { emptyRoot, GoneError, readRoot, storedNodes, withMoment } from './view.ts';

/**
 * A function of the caller that reads rows which the list counts, and returns the member that each stands for: from a number on,
 * sorted by number. It returns fewer than the limit only at the end.
 */
export type ReadRows = (from: number, limit: number) => Promise<Member[]>;

export interface CheckedPage {
  rows: number;
  differences: string[];
  next: number | undefined;
}

const rowsPerCheck = 500;
/**
 * The number of times that a page of rows is compared with the list before a difference counts. Rows and list are read at
 * different moments, so a page that differs is read again.
 */
const reads = 3;
const pauseInMilliseconds = 1_500;

/**
 * Compares a list with the rows that it counts, page by page, while changes go on. Compares the counts of the list with each
 * other at the end.
 */
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
  return await withMoment({ table, keys }, async (moment) => {
    const members = await rows(from, rowsPerCheck);
    // The nodes as they are stored, not those that pages have kept.
    const view = { ...(await moment.view()), source: storedNodes(table, keys) };
    const next = members.length < rowsPerCheck ? undefined : (members.at(-1)?.number ?? 0) + 1;
    const differences = new Set<string>();
    const compareCounts = (child: Part, node: TreeNode) => {
      if (countsOf(node).join() === child.counts.join()) return;
      differences.add(
        `the node from number ${child.number} on counts ${countsOf(node).join()}, its parent ${child.counts.join()}`,
      );
    };
    const listed = await membersBetween(view, from, next ?? afterAllNumbers, compareCounts);
    const states = new Map(listed.map(({ number, state }) => [number, { row: 0, list: state }]));
    for (const { number, state } of members) states.set(number, { row: state, list: states.get(number)?.list ?? 0 });
    for (const [number, { row, list }] of states) {
      if (row !== list) differences.add(`number ${number} is in state ${row}, in the list in state ${list}`);
    }
    return { rows: members.length, differences: [...differences], next };
  });
}

function compareTotals(table: ListTable, keys: ListKeys): Promise<string[]> {
  return withMoment({ table, keys }, async ({ head, view }) => {
    const counts = countsOf((await view()).tree);
    const totals = counts.map((_, state) => head.totals[state] ?? 0);
    return counts.join() === totals.join() ? [] : [`the head counts ${totals.join()}, the tree ${counts.join()}`];
  });
}

const rowsPerRead = 2_000;
/**
 * The milliseconds for which a rebuild holds the list unless it extends the hold: so long is the list held by a rebuild that
 * dies.
 */
const holdInMilliseconds = 120_000;
/**
 * The milliseconds after which all items of a transaction are assumed to be visible. DynamoDB shows them one by one, and
 * documents no limit.
 */
const transactionShowsInMilliseconds = 2_000;

export class HeldError extends Error {
  override readonly name = 'HeldError';
}

/**
 * Builds the tree of a list anew from the rows that it counts, while the list changes. Nothing is folded meanwhile, so a member
 * that the log mentions gets the state that it had before its changes there.
 * @param onRows called with the number of rows that were read since the last call
 * @throws HeldError if another rebuild holds the list, or has taken it over
 */
export async function rebuildList(
  table: ListTable,
  keys: ListKeys,
  rows: ReadRows,
  onRows: (rows: number) => void = () => undefined,
): Promise<void> {
  // Rows count that were changed without the log after their last logged change. A damaged tree cannot be folded.
  await foldStep(table, keys, 1).catch(() => undefined);
  let head = await takeHold(table, keys);
  const renew = async () => {
    const left = head.held_until - table.clock.now();
    if (left < holdInMilliseconds / 2) head = await replaceHeld(table, keys, head, {});
  };
  let tree = emptyTree;
  const setStates = async (members: readonly Member[]) => {
    const changes = members.map(({ number, state }) => ({ number, before: 0, now: state }));
    const changed = await changeTree(tree, changes, storedNodes(table, keys));
    await putItems(table, nodeItems(keys, changed.written));
    tree = changed.tree;
  };
  for (let from = 1, count = rowsPerRead; count === rowsPerRead;) {
    const members = await rows(from, rowsPerRead);
    await setStates(members);
    count = members.length;
    from = (members.at(-1)?.number ?? 0) + 1;
    onRows(count);
    await renew();
  }
  // A change whose row was read must be in the log by now.
  await table.clock.wait(transactionShowsInMilliseconds);
  const unfolded = unfoldedOf(head, await readLog(table, keys));
  const before = unfolded.map(({ number, steps }) => ({ number, state: steps[0]?.before ?? 0 }));
  await setStates(before.sort((a, b) => a.number - b.number));
  await renew();
  const { days } = await readRoot(table, keys, head).catch((error: unknown) => {
    if (error instanceof GoneError) return emptyRoot; // and the old days with it
    throw error;
  });
  const edge = upperEdge(tree);
  const root = edge.length + days.length > 0 ? rootOf(foldName(head.version + 1)) : '';
  if (root !== '') await putItems(table, [{ ...keys.node(root), edge, days }]);
  head = await replaceHeld(table, keys, head, { ...ofTree(tree), root });
  // No read that began with the old tree lasts longer.
  await table.clock.wait(graceInMilliseconds);
  await renew();
  await removeUnused(table, keys, head);
  await replaceHead(table, keys, head, { held_until: 0 });
}

/**
 * Holds a list for a rebuild: for a limited time nothing is folded, and no other rebuild begins.
 * @returns the head
 * @throws HeldError if another rebuild holds the list
 */
async function takeHold(table: ListTable, keys: ListKeys): Promise<Head> {
  for (;;) {
    const head = await readHead(table, keys);
    if (head.held_until > table.clock.now()) {
      const until = new Date(head.held_until).toISOString();
      const advice = 'If that one has died, begin again then. If it is at work, it extends its hold.';
      throw new HeldError(`Another rebuild holds the list ${keys.name} until ${until}. ${advice}`);
    }
    const held = await extendHold(table, keys, head, {});
    if (held) return held;
    // A fold has come in between.
  }
}

/**
 * Replaces the head of a list that a rebuild holds, and extends the hold.
 * @throws HeldError if the hold has ended and another process has replaced the head
 */
async function replaceHeld(table: ListTable, keys: ListKeys, head: Head, changes: Partial<Head>): Promise<Head> {
  const held = await extendHold(table, keys, head, changes);
  if (held) return held;
  throw new HeldError(
    `The list ${keys.name} has changed during its rebuild, which took too long between two steps. Begin it again.`,
  );
}

const extendHold = (table: ListTable, keys: ListKeys, head: Head, changes: Partial<Head>): Promise<Head | undefined> =>
  replaceHead(table, keys, head, { ...changes, held_until: table.clock.now() + holdInMilliseconds });

/** Deletes the nodes, roots and plans in the table that the head of the list does not lead to. The list must be held. */
async function removeUnused(table: ListTable, keys: ListKeys, head: Head): Promise<void> {
  const used = new Set<string>([keys.head.sk, keys.node(head.root).sk]);
  const source = storedNodes(table, keys);
  const addBelow = async (node: TreeNode): Promise<void> => {
    if (isLeaf(node)) return;
    for (const child of node.parts) {
      if (child.id !== undefined) used.add(keys.node(child.id).sk);
      if (node.level > 1) await addBelow(await childOf(child, source));
    }
  };
  await addBelow(treeOf(head, (await readRoot(table, keys, head)).edge));
  for (const partition of [keys.index, ...keys.nodes]) {
    const items = await queryPrefix(table, partition, keys.prefix);
    const unused = items.map(({ sk }) => ({ pk: partition, sk: String(sk) })).filter(({ sk }) => !used.has(sk));
    await deleteItems(table, unused);
  }
}
