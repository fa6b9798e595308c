import * as v from 'valibot';
import { systemClock } from '../clock.ts';
import { indexKeys } from '../table/index-keys.ts';
import { listKeys, type Key } from '../table/keys.ts';
import { parseStored, storedBytes } from '../table/parse-stored.ts';
import { getItem, queryBetween, type Item, type Table } from '../table/table.ts';
import { deleteItems, putItem, putItems } from '../table/writes.ts';
import { changeTree } from './change-tree.ts';
import { countDays, readDaysNotIn } from './days.ts';
import { headOfTrees } from './head-of-trees.ts';
import type { Head } from './head.ts';
import { lettersOf, memberOfRow, type IndexedList } from './indexed-list.ts';
import { membersByRows } from './members-by-rows.ts';
import { afterAllNumbers, comparePlaces, emptyCounts, type Member } from './node.ts';
import { readOldDays } from './old-lists.ts';
import { readWholeLog } from './read-log.ts';
import { commitHead, readHead } from './stored-head.ts';
import { nodeItems, StoredNodes } from './stored-nodes.ts';
import { decodeEdge, encodeEdge } from './tree.ts';
import { unfoldedEntries, versionsOf } from './unfolded.ts';
import { foldName } from './write-fold.ts';

/** The progress of carrying lists over: the trees of the rows so far. */
const storedBuild = v.object({
  /** The number of steps that are done. */
  steps: v.number(),
  /** The list that is read, and its last row that the trees contain. */
  list: v.number(),
  number: v.number(),
  /** The right edges of the trees, by their letters. */
  edges: v.record(v.string(), v.array(storedBytes)),
  /** The nodes that the step at work writes. They are deleted if it dies. */
  writing: v.array(v.string()),
});
type Build = v.InferOutput<typeof storedBuild>;

const rowsPerStep = 2_000;

/**
 * Enters the rows of lists into the trees of their index, step by step, while changes go on. They are in the log, from which
 * nothing is deleted before: an index without a head, which an earlier version has written, is not folded, and neither is one
 * that is being rebuilt (rebuild.ts). May be repeated, and may die at any call.
 * @param lists all lists of one index
 * @returns the rows that this step entered; undefined if the index is complete
 */
export async function carryOver(table: Table, lists: readonly [IndexedList, ...IndexedList[]]): Promise<number | undefined> {
  const { index } = lists[0];
  const head = await readHead(table, index);
  if (head.version > 0 && head.held !== 'building') {
    await deleteItems(table, [indexKeys.build(index)]);
    return undefined;
  }
  const build = await readBuild(table, lists[0]);
  const list = lists[build.list];
  if (!list) return await complete(table, lists, build, head);
  const from = listKeys.row(list.rows, build.number + 1);
  const rows = await queryBetween(table, from, listKeys.row(list.rows, afterAllNumbers), { limit: rowsPerStep });
  const members = rows.map((row) => memberOfRow(list, row));
  const next = await enter(table, list, build, members);
  const isOver = rows.length < rowsPerStep;
  const at = isOver ? { list: build.list + 1, number: 0 } : { list: build.list, number: members.at(-1)?.number ?? 0 };
  await putItem(table, { ...indexKeys.build(index), ...next.build, ...at, steps: build.steps + 1, writing: [] });
  await next.deleteDropped();
  return rows.length;
}

async function readBuild(table: Table, { index }: IndexedList): Promise<Build> {
  const item = await getItem(table, indexKeys.build(index));
  if (!item) return { steps: 0, list: 0, number: 0, edges: {}, writing: [] };
  const build = parseStored(storedBuild, item, 'carry-over of a list');
  await deleteItems(
    table,
    build.writing.map((id) => indexKeys.node(index, id)),
  );
  return build;
}

/** Sets members of a list in its trees, in new nodes. */
async function enter(table: Table, list: IndexedList, build: Build, members: readonly Member[]) {
  const { index } = list;
  const source = new StoredNodes(table, index);
  const edges = { ...build.edges };
  const items: (Item & Key)[] = [];
  const written: string[] = [];
  const dropped: string[] = [];
  for (const letter of lettersOf(list)) {
    // A member that changed its group is there twice. Its last state counts.
    const ofList = new Map(members.map((member) => [member.number, { ...member, group: '' }]));
    const places = (letter === list.tree ? [...ofList.values()] : [...members]).sort(comparePlaces);
    const changed = await changeTree(decodeEdge(edges[letter] ?? []), places, source);
    edges[letter] = encodeEdge(changed.tree);
    items.push(...nodeItems(index, changed.written));
    written.push(...changed.written.keys());
    dropped.push(...changed.dropped);
  }
  await putItem(table, { ...indexKeys.build(index), ...build, writing: written });
  await putItems(table, items);
  const deleteDropped = () =>
    deleteItems(
      table,
      dropped.map((id) => indexKeys.node(index, id)),
    );
  return { build: { ...build, edges }, deleteDropped };
}

/** Sets the members that the log mentions, and commits the head that follows `before`. */
async function complete(
  table: Table,
  lists: readonly [IndexedList, ...IndexedList[]],
  build: Build,
  before: Head,
): Promise<number | undefined> {
  const { index } = lists[0];
  const clock = table.clock ?? systemClock;
  const entries = await readWholeLog(table, index, before);
  let current = build;
  for (const list of lists) {
    const { build: next, deleteDropped } = await enter(table, list, current, await membersByRows(table, list, before, entries));
    current = { ...next, steps: current.steps + 1, writing: [] };
    await putItem(table, { ...indexKeys.build(index), ...current });
    await deleteDropped();
  }
  const name = foldName(before.version + 1, 'built');
  const { head, roots } = headOfTrees(index, before, Object.entries(current.edges), name);
  await putItems(table, roots);
  const unfolded = unfoldedEntries(before, entries);
  const days =
    before.version === 0 ? await carryOverDays(table, lists[0]) : await readDaysNotIn(table, index, before.days, unfolded);
  head.days = countDays(before.days, unfolded, days);
  head.folds = [...before.folds, { name, stage: 'seen', at: clock.now(), entries: versionsOf(entries) }];
  if (before.version > 0) head.held = 'cleaning';
  await commitHead(table, index, head);
  await deleteItems(table, [indexKeys.build(index)]);
  return undefined;
}

/** Copies the statistics of earlier versions into the index. @returns the counts of a day, by state */
async function carryOverDays(table: Table, list: IndexedList): Promise<(day: number) => number[]> {
  const days = await readOldDays(table, list);
  await putItems(
    table,
    [...days].map(([day, counts]) => ({ ...indexKeys.day(list.index, day), counts })),
  );
  return (day) => days.get(day) ?? emptyCounts();
}
