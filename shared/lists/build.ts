import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { indexKeys } from '../table/index-keys.ts';
import { parseStored, storedBytes } from '../table/parse-stored.ts';
import { clockOf, getItem, type Table } from '../table/table.ts';
import { deleteItemIf, deleteItems, putItemIf } from '../table/writes.ts';
import type { Head } from './head.ts';
import type { ListIndex } from './list-index.ts';

/** The progress of building the trees of an index (build-trees.ts): the trees so far. */
const storedBuild = v.object({
  /** Names this build: the names of its roots contain it. */
  id: v.string(),
  /** The version of the head that it began with. It is of no use with another one. */
  head: v.number(),
  /** Milliseconds since 1970. */
  begun_at: v.number(),
  /** Another one with each write. So a runner finds out if another one has written since. */
  written_as: v.string(),
  /** The number of steps that are done. */
  steps: v.number(),
  /** What is entered into the trees: the rows, then what the log mentions. In the last stage, no tree changes any more. */
  stage: v.picklist(['rows', 'log', 'complete']),
  /** The list that is entered, and the last number that the trees contain. */
  list: v.number(),
  number: v.number(),
  /** The right edges of the trees, by their ids. */
  edges: v.record(v.string(), v.array(storedBytes)),
  /** The nodes that the step at work writes. They are deleted if it dies. */
  writing: v.array(v.string()),
});
export type Build = v.InferOutput<typeof storedBuild>;

/** Thrown if another runner continues a build in place of this one. */
export class TakenOverError extends Error {
  override readonly name = 'TakenOverError';

  constructor({ scope }: ListIndex) {
    super(`Another runner builds the index ${scope}, and continues in place of this one.`);
  }
}

export async function readBuild(table: Table, index: ListIndex): Promise<Build | undefined> {
  const item = await getItem(table, indexKeys.build(index));
  return item && parseStored(storedBuild, item, 'build of an index');
}

/**
 * Returns the build that continues the stored one, or a new one if that is of another head. Takes over a step that is at work, so
 * that it cannot be recorded any more, and deletes its nodes.
 * @throws TakenOverError
 */
export async function beginBuild(table: Table, index: ListIndex, head: Head, stored: Build | undefined): Promise<Build> {
  if (stored?.head !== head.version) return await putBuild(table, index, stored, newBuild(table, head));
  if (stored.writing.length === 0) return stored;
  const taken = await putBuild(table, index, stored, stored);
  await deleteNodes(table, index, stored.writing);
  return taken;
}

function newBuild(table: Table, { version }: Head): Build {
  const progress = { steps: 0, stage: 'rows', list: 0, number: 0, edges: {}, writing: [] } as const;
  return { id: newName(), head: version, begun_at: clockOf(table).now(), written_as: '', ...progress, writing: [] };
}

function newName(): string {
  return randomBytes(6).toString('base64url');
}

/**
 * Replaces the stored build, unless it has been replaced since it was read.
 * @returns the build as it is stored now
 * @throws TakenOverError after the nodes of the step at work are deleted
 */
export async function putBuild(table: Table, index: ListIndex, before: Build | undefined, now: Build): Promise<Build> {
  const next = { ...now, written_as: newName() };
  const unchanged = before
    ? { ConditionExpression: 'written_as = :before', ExpressionAttributeValues: { ':before': before.written_as } }
    : { ConditionExpression: 'attribute_not_exists(pk)' };
  if (await putItemIf(table, { ...indexKeys.build(index), ...next }, unchanged)) return next;
  const stored = await readBuild(table, index);
  // The SDK repeats a write whose answer is lost, and the repeat finds the build replaced.
  if (stored?.written_as === next.written_as) return next;
  // A step that is not recorded has its nodes in no tree. If later steps are recorded, this one may be among them.
  if (before && stored?.id === before.id && stored.steps === before.steps) await deleteNodes(table, index, before.writing);
  throw new TakenOverError(index);
}

/** Deletes a build that nobody continues. */
export async function dropBuild(table: Table, index: ListIndex, build: Build): Promise<void> {
  const unchanged = { ConditionExpression: 'written_as = :read', ExpressionAttributeValues: { ':read': build.written_as } };
  await deleteItemIf(table, indexKeys.build(index), unchanged);
}

async function deleteNodes(table: Table, index: ListIndex, ids: readonly string[]): Promise<void> {
  await deleteItems(
    table,
    ids.map((id) => indexKeys.node(index, id)),
  );
}
