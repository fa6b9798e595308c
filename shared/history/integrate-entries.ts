import { isEqual, toHex } from 'computation-management-formats/bytes';
import {
  appendEntries,
  checkpointText,
  consistencyProof,
  emptyRoot,
  readEntries,
  type ReadTile,
  rootOf,
  signNote,
  type Tree,
  verifyConsistency,
} from 'computation-management-transparency-log';
import * as v from 'valibot';
import type { Kms } from '../runtime/clients.ts';
import { emitMetric, log } from '../runtime/log.ts';
import type { StreamBatch } from '../table/fold-lists.ts';
import { historyKeys, type Key } from '../table/keys.ts';
import { parseStored, storedBytes } from '../table/stored.ts';
import { clockOf, getItem, getItemsOf, type Item, queryPartition, type Table } from '../table/table.ts';
import { deleteItemsOf, putItems, updateIf } from '../table/writes.ts';
import { steadyTimeOf } from '../runtime/deadline.ts';
import { type LogStore, publish, storeTile, tileReader } from './log-store.ts';
import { parsePlace, type Published, readPublished, logSigner } from './published-log.ts';
import { withCosignatures, type Witness } from './witnesses.ts';

/** The parts of a stage that its log is made of. */
export interface StageLog {
  table: Table;
  store: LogStore;
  kms: Kms;
  witnesses: readonly Witness[];
}

/** The most entries that one checkpoint adds to the one before it. Their plan is stored in one item, with 64 KB. */
const mostAtOnce = 1_000;
const lengthOfEntry = 64;
const lengthOfTag = 32;
const longestInMilliseconds = 20_000;

/**
 * Integrates the waiting entries into the stage's log, and publishes checkpoints, until no entry waits or 20 seconds are over. Safe
 * to repeat, and to do several times at once: no entry gets two places, and none is lost.
 *
 * The published checkpoint decides, and is read first. What is added to it is decided by one conditional write of the head, the
 * plan. Everything after that follows from the plan, so whoever finds it can complete it: tiles and places, then the head without
 * the plan, then the checkpoint, which replaces only the one that was read.
 * @param mostPlans the most checkpoints to plan, each of up to 1,000 entries
 * @returns the number of entries in the log
 * @throws Error if the tiles do not fit the published checkpoint
 */
export async function integrateEntries(stage: StageLog, mostPlans = Infinity): Promise<number> {
  const clock = clockOf(stage.table);
  const end = steadyTimeOf(clock) + longestInMilliseconds;
  for (let plans = 0; ;) {
    const published = await readPublished(stage.store, stage.kms);
    const head = await readHead(stage.table);
    const { size } = published?.tree ?? emptyLog;
    if (head.size < size && published) await rebuildHead(stage, head, published.tree);
    else if (head.planned.length > 0) await complete(stage, head, published);
    else if (head.size > size || !published) await publishSize(stage, head.size, published);
    else if (++plans > mostPlans || !(await plan(stage, head.size))) return size;
    if (steadyTimeOf(clock) >= end) return size;
  }
}

/** Integrates the entries that wait now, if a batch of the table's stream has one. @returns the number of entries in the log, if so */
export async function integrateChanged({ Records }: StreamBatch, open: () => StageLog): Promise<number | undefined> {
  const hasEntry = Records.some(({ dynamodb: { Keys } }) => isWaitingEntry({ pk: Keys.pk.S }));
  return hasEntry ? await integrateEntries(open(), 1) : undefined;
}

/** Returns whether a key of the table is that of an entry that waits to be integrated into the stage's log. */
export const isWaitingEntry = ({ pk }: { pk: string }): boolean => pk.startsWith(historyKeys.waitingPrefix);

const emptyLog: Tree = { size: 0, root: emptyRoot };

/** The head of the log in the table. */
interface Head {
  /** The number of entries that have tiles and places. */
  size: number;
  /** The entries that come next. Nobody plans others until they are integrated. */
  planned: Uint8Array[];
}

const storedHead = v.object({ entry_count: v.number(), planned: v.optional(storedBytes, new Uint8Array()) });

async function readHead(table: Table): Promise<Head> {
  const item = await getItem(table, historyKeys.head);
  if (!item) return { size: 0, planned: [] };
  const { entry_count, planned } = parseStored(storedHead, item, 'head of the log');
  const count = planned.length / lengthOfEntry;
  const entries = Array.from({ length: count }, (_, at) => planned.subarray(at * lengthOfEntry, (at + 1) * lengthOfEntry));
  return { size: entry_count, planned: entries };
}

/** The condition that the head still has a size. A log without a head has the size 0. */
function stillHas(size: number, andPlan: 'attribute_exists' | 'attribute_not_exists') {
  const has = `entry_count = :size AND ${andPlan}(planned)`;
  return {
    ConditionExpression: size === 0 && andPlan === 'attribute_not_exists' ? `attribute_not_exists(pk) OR (${has})` : has,
    ExpressionAttributeValues: { ':size': size },
  };
}

/**
 * Plans which of the waiting entries come next. Removes those that have their place already.
 * @returns whether there may be more to do
 */
async function plan({ table }: StageLog, size: number): Promise<boolean> {
  const waiting = await readWaiting(table);
  if (waiting.length === 0) return false;
  const places = await getItemsOf(table, waiting, ({ tag }) => historyKeys.place(tag));
  const integrated = waiting.filter((_, at) => places[at]);
  for (const [at, { tag, entry }] of waiting.entries()) {
    const place = parsePlace(places[at]);
    if (!place || isEqual(place.entry, entry)) continue;
    log('ERROR', 'The log has another entry of this tag, so the run has no evidence.', { tag });
  }
  await deleteWaiting(table, integrated);
  const next = waiting.filter((_, at) => !places[at]);
  if (next.length === 0) return true;
  const planned = Buffer.concat(next.map(({ entry }) => entry));
  const update = {
    UpdateExpression: 'SET planned = :planned, entry_count = :size',
    ExpressionAttributeValues: { ':planned': planned },
  };
  await updateIf(table, historyKeys.head, update, stillHas(size, 'attribute_not_exists'));
  return true; // another one may have planned meanwhile
}

interface WaitingEntry {
  tag: string;
  entry: Uint8Array;
  since: string;
}

const storedWaiting = v.object({ sk: v.string(), entry: storedBytes, waits_since: v.string() });

/** Reads the entries that wait the longest, up to 1,000. */
async function readWaiting(table: Table): Promise<WaitingEntry[]> {
  const shards = await Promise.all(historyKeys.waitingShards.map((shard) => queryPartition(table, shard, { limit: mostAtOnce })));
  return shards
    .flat()
    .map((item) => parseStored(storedWaiting, item, 'waiting entry of the log'))
    .map(({ sk, entry, waits_since }) => ({ tag: sk, entry, since: waits_since }))
    .sort((a, b) => (a.since < b.since ? -1 : 1))
    .slice(0, mostAtOnce);
}

function deleteWaiting(table: Table, entries: readonly Pick<WaitingEntry, 'tag'>[]): Promise<void> {
  return deleteItemsOf(table, entries, ({ tag }) => historyKeys.waiting(tag));
}

/** Writes what a plan adds to the log, and publishes it. Writes nothing if it would not continue the published checkpoint. */
async function complete(stage: StageLog, { size, planned }: Head, published: Published | undefined): Promise<void> {
  const { table, store } = stage;
  const stored = tileReader(store);
  const { tiles, size: grown } = await appendEntries(size, planned, stored);
  const added = new Map(tiles.map(({ path, bytes }) => [path, bytes]));
  const readTile: ReadTile = async (path) => added.get(path) ?? (await stored(path));
  const tree = await continuing(published, grown, readTile);
  await Promise.all([...tiles.map((tile) => storeTile(store, tile)), putPlaces(table, size, planned)]);
  const update = { UpdateExpression: 'SET entry_count = :grown REMOVE planned', ExpressionAttributeValues: { ':grown': grown } };
  if (!(await updateIf(table, historyKeys.head, update, stillHas(size, 'attribute_exists')))) return; // another one did
  await publishTree(stage, tree, published, readTile);
  await deleteWaiting(
    table,
    planned.map((entry) => ({ tag: tagIn(entry) })),
  );
}

const tagIn = (entry: Uint8Array) => toHex(entry.subarray(0, lengthOfTag));

/** Stores the places of entries in the log. Safe to repeat. */
function putPlaces(table: Table, first: number, entries: readonly Uint8Array[]): Promise<void> {
  const items = entries.map((entry, at): Item & Key => ({ ...historyKeys.place(tagIn(entry)), place: first + at, entry }));
  return putItems(table, items);
}

/** Publishes the checkpoint of a log whose tiles are complete, and whose integrator died before it published. */
async function publishSize(stage: StageLog, size: number, published: Published | undefined): Promise<void> {
  const readTile = tileReader(stage.store);
  await publishTree(stage, await continuing(published, size, readTile), published, readTile);
}

/**
 * Returns the tree of a size.
 * @throws Error if it does not continue the published checkpoint
 */
async function continuing(published: Published | undefined, size: number, readTile: ReadTile): Promise<Tree> {
  const before = published?.tree ?? emptyLog;
  const tree = { size, root: await rootOf(size, readTile) };
  const proof = before.size === 0 || before.size === size ? [] : await consistencyProof(before.size, size, readTile);
  if (verifyConsistency(before, tree, proof)) return tree;
  throw new Error(`The tiles of the log, with ${size} entries, do not continue the checkpoint of ${before.size} entries.`);
}

/** Signs and publishes a checkpoint, with cosignatures, unless another one has been published since. */
async function publishTree(stage: StageLog, tree: Tree, published: Published | undefined, readTile: ReadTile): Promise<void> {
  const signer = await logSigner(stage.kms);
  const note = await signNote(checkpointText({ origin: signer.origin, ...tree }), signer);
  const submitted = { note, size: tree.size, before: published?.tree.size ?? 0 };
  await publish(stage.store, await withCosignatures(submitted, stage.witnesses, readTile), published);
}

/**
 * Rebuilds the head from the tiles, up to 2,560 entries at a time, after the table was restored to a time before the published
 * checkpoint. The places of the entries follow from the tiles too, so that entries that wait again are not put a second time.
 */
async function rebuildHead({ table, store }: StageLog, { size }: Head, { size: published }: Tree): Promise<void> {
  log('ERROR', 'The table is older than the published log. Its head is rebuilt from the tiles.', { size, published });
  emitMetric('LogRebuilt', 1);
  const to = Math.min(published, size + mostRebuilt);
  await putPlaces(table, size, await readEntries(size, to, published, tileReader(store)));
  const update = { UpdateExpression: 'SET entry_count = :to REMOVE planned', ExpressionAttributeValues: { ':to': to } };
  const ConditionExpression = `${size === 0 ? 'attribute_not_exists(pk) OR ' : ''}entry_count = :size`;
  await updateIf(table, historyKeys.head, update, { ConditionExpression, ExpressionAttributeValues: { ':size': size } });
}

/** The most entries whose places are rebuilt before the head says so. */
const mostRebuilt = 2_560;

/** Writes as a metric for how long the entry waits that has waited longest, if any does. */
export async function reportWaiting(table: Table, now: string): Promise<void> {
  const [oldest] = await readWaiting(table);
  if (oldest) emitMetric('LogEntryAge', Math.max(0, Date.parse(now) - Date.parse(oldest.since)));
}
