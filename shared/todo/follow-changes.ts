import { createHash, randomInt } from 'node:crypto';
import { keysOf, listOfEntry } from 'computation-management-counted-list/keys';
import * as v from 'valibot';
import { storedAsset } from '../rows/asset.ts';
import { storedComputation, type StoredComputation, computationNumber } from '../rows/computation.ts';
import { readLinkedIds } from '../rows/link.ts';
import { type News, withNews } from '../notifications/index.ts';
import { readInputs } from '../rows/manifest.ts';
import { type Run, runSchema } from '../rows/run.ts';
import { parseSnapshot } from '../rows/run-snapshot.ts';
import { inParallel } from '../runtime/in-parallel.ts';
import { log } from '../runtime/log.ts';
import type { StreamBatch } from '../table/fold-lists.ts';
import {
  type AnyKey,
  type Key,
  listKeys,
  lists,
  recheckKeys,
  rowAt,
  type RowOfDomain,
  runKeys,
  todoKeys,
  writableKey,
} from '../table/keys.ts';
import { hashOfUser, listNamed, recordMember, type RowList, rowLists } from '../table/row-lists.ts';
import { parseStored } from '../table/stored.ts';
import { getItem, getItems, type Item, pagesOf, queryBetween, queryPartition, queryPrefix, type Table } from '../table/table.ts';
import { StaleReadError, Transaction, withFreshReads } from '../table/transaction.ts';
import { hasAttributes, isAbsent, putItem, deleteItemsOf } from '../table/writes.ts';
import { noteSeenProbes } from './position.ts';
import { nextExpiry, taskSchema, tasksOf } from './tasks-of.ts';

/** The number of a computation, an asset or a run in the list of its domain. */
type Place = Pick<RowOfDomain, 'domain' | 'number'>;

/** A computation, an asset or a run by its number in the list of its domain. */
interface Thing extends Place {
  kind: 'computation' | 'asset' | 'run';
}

const thingsAtOnce = 16;

/**
 * Brings the lists of what waits for users up to date for the computations and assets in a batch of changes of the table, and notes how
 * far the table's stream was followed. What fails is tried again each minute. Safe to repeat, and at the same time.
 * @returns the number of computations and assets
 */
export async function followTodo(table: Table, { Records }: StreamBatch, now: string): Promise<number> {
  const things = thingsAt(Records.map(({ dynamodb: { Keys } }) => ({ pk: Keys.pk.S, sk: Keys.sk.S })));
  await followAll(table, things, now);
  await noteSeenProbes(table, { Records });
  return things.length;
}

/** Returns the computations, assets and runs whose rows have the given keys, each once. */
function thingsAt(keys: readonly AnyKey[]): Thing[] {
  const rows = keys.flatMap((key) => rowAt(key) ?? []);
  return eachOnce(rows.filter((row): row is Thing => row.kind !== 'cvm'));
}

const eachOnce = (things: Thing[]) => [...new Map(things.map((thing) => [nameOf(thing), thing])).values()];

const followers = { asset: followAsset, computation: followComputation, run: followRun };

const nameOf = ({ kind, domain, number }: Thing) => recheckKeys.thing(kind, domain, number);

async function followAll(table: Table, things: readonly Thing[], now: string): Promise<number> {
  let failures = 0;
  const follow = async (thing: Thing) => {
    try {
      await followers[thing.kind](table, thing, now);
    } catch (error) {
      failures += 1;
      log(
        'ERROR',
        'What waits for users was not brought up to date. It is tried again each minute.',
        { thing: nameOf(thing) },
        error,
      );
      const next = new Date(Date.parse(now) + 1).toISOString(); // so that this sweep does not take it up again
      await putItem(table, { ...recheckKeys.recheck(next, nameOf(thing)), ...thing });
    }
  };
  await inParallel(things, follow, thingsAtOnce);
  return failures;
}

const recheckSchema = v.object({
  pk: v.string(),
  sk: v.string(),
  domain: v.string(),
  kind: v.picklist(['computation', 'asset', 'run']),
  number: v.number(),
});

/** The most computations and assets of each of eight partitions that are looked at again together. */
const mostRechecks = 500;

/**
 * Looks again at computations in which an approval has expired, and at what failed before: at all that is due. To be called each minute.
 * @throws Error if something failed, after all others
 */
export async function recheckTodo(table: Table, now: string): Promise<number> {
  let [count, failed] = [0, 0];
  for (;;) {
    const read = recheckKeys.shards.map((shard) =>
      queryBetween(table, ...recheckKeys.dueIn(shard, now), { limit: mostRechecks }),
    );
    const found = await Promise.all(read);
    const due = found.flat().map((item) => parseStored(recheckSchema, item, 'recheck'));
    const things = eachOnce(due.map(({ domain, kind, number }) => ({ domain, kind, number })));
    failed += await followAll(table, things, now);
    await deleteItemsOf(table, due, ({ pk, sk }) => writableKey(pk, sk));
    count += things.length;
    if (found.some(({ length }) => length === mostRechecks)) continue;
    if (failed > 0) throw new Error(`${failed} of ${count} looks at computations and assets failed.`);
    return count;
  }
}

/**
 * Looks at all computations, assets and runs of a domain, as if each had changed, and at those that it only remembers.
 * @returns how many there are, and how many of them failed, which the log names and which are tried again each minute
 */
export async function rebuildTodo(table: Table, domain: string, now: string): Promise<{ count: number; failures: number }> {
  let [count, failures] = [0, 0];
  for (const pk of [
    lists.computations(domain).pk,
    lists.assets(domain).pk,
    lists.runs(domain).pk,
    ...todoKeys.partitions(domain),
  ]) {
    for await (const items of pagesOf(table, pk, { attributes: ['pk', 'sk'] })) {
      const things = thingsAt(items.map(({ sk }) => todoKeys.rowOf({ pk, sk: String(sk) }) ?? { pk, sk: String(sk) }));
      failures += await followAll(table, things, now);
      await foldLists(table, domain);
      count += todoKeys.partitions(domain).includes(pk) ? 0 : things.length;
    }
  }
  return { count, failures };
}

/** Folds the lists of what waits that a rebuild has changed much: nobody else may be folding, and too long a log refuses changes. */
async function foldLists(table: Table, domain: string): Promise<void> {
  const logs = [lists.waiting(domain), lists.updated(domain)].flatMap(({ pk }) => keysOf(pk).logs);
  const entries = await Promise.all(logs.map((pk) => queryPartition(table, pk, { attributes: ['pk', 'sk'] })));
  const names = entries.flat().flatMap(({ pk, sk }) => listOfEntry({ pk: String(pk), sk: String(sk) }) ?? []);
  await inParallel([...new Set(names)], async (name) => {
    await listNamed(table, name).fold();
  });
}

const storedTask = v.object({
  user_id: v.string(),
  status: storedComputation.entries.status,
  /** The number of the computation in the list of last changes, with which the user's list has it too. */
  place: v.number(),
  ...taskSchema.entries,
});
/** The stored task of a user in a computation. The user's lists have exactly what it says. */
export type StoredTask = v.InferOutput<typeof storedTask>;

export const parseTask = (item: Item): StoredTask => parseStored(storedTask, item, 'task');

const storedHead = v.object({
  version: v.number(),
  updated_at: v.string(),
  place: v.number(),
  recheck_at: v.nullable(v.string()),
});
type Head = v.InferOutput<typeof storedHead>;

/** The most actions of a transaction that one user's change takes. */
const mostOfUser = 16;

/**
 * Looks at a thing and writes what has changed of it, until a look finds nothing to write: a call that read earlier may write later.
 * @param look returns whether there was nothing to write
 */
async function untilFollowed(table: Table, look: (table: Table) => Promise<boolean>): Promise<void> {
  while (!(await withFreshReads(table, look)));
}

/**
 * Adds to a transaction that the item of what was last seen of a thing is replaced, or, without `after`, deleted. The transaction fails
 * with StaleReadError if another call has replaced the item.
 * @returns the version of the new item
 */
function replaceSeen(transaction: Transaction, key: Key, before: { version: number } | undefined, after?: object): number {
  const version = (before?.version ?? 0) + 1;
  const condition = before ? hasAttributes({ version: before.version }) : isAbsent;
  const otherwise = StaleReadError;
  if (after) transaction.addFirst({ put: { Item: { ...key, ...after, version }, ...condition }, otherwise });
  else if (before) transaction.addFirst({ delete: { Key: key, ...condition }, otherwise });
  return version;
}

/** The users for whom an asset or a run waits, before and after a change. */
interface WaitingUsers {
  before: readonly string[];
  after: readonly string[];
}

/** Adds to a transaction that an asset or a run leaves the lists of the users for whom it waits no more, and enters those of others. */
function moveTask(
  transaction: Transaction,
  listOf: (user: string) => RowList<'all'>,
  member: { number: number; version: number },
  { before, after }: WaitingUsers,
): void {
  for (const user of before) if (!after.includes(user)) recordMember(transaction, listOf(user), { ...member, before: 'all' });
  for (const user of after) if (!before.includes(user)) recordMember(transaction, listOf(user), { ...member, now: 'all' });
}

/**
 * Brings the lists of all users for whom a computation waits, or waited, up to date, and its place in the list of last changes. What was last
 * seen is read first: whoever replaces it in the meantime may have read a later state of the computation, and this call looks again.
 */
async function followComputation(table: Table, { domain, number }: Place, now: string): Promise<void> {
  let placesTaken = 0;
  await withFreshReads(table, async (table) => {
    const known = await queryPrefix(table, todoKeys.head(domain, number).pk, todoKeys.prefixOf(number));
    const row = await getItem(table, listKeys.row(lists.computations(domain), number));
    const computation = row && parseStored(storedComputation, row, 'computation');
    const inputs = computation && (await readInputs(table, domain, computation));
    const found = known.find((item) => 'version' in item);
    const head = found && parseStored(storedHead, found, 'head of tasks');
    const before = new Map(known.filter((item) => 'user_id' in item).map((item) => [String(item['user_id']), parseTask(item)]));
    const next = inputs && {
      updated_at: computation.updated_at,
      place: head?.updated_at === computation.updated_at ? head.place : somePlace(computation, placesTaken),
      recheck_at: nextExpiry(inputs, now),
    };
    const after = new Map<string, StoredTask>();
    if (next) {
      const { status } = computation;
      const reviewing = new Set(
        known.flatMap((item) => ('waiting' in item ? parseStored(waitingBeside, item, 'review').waiting : [])),
      );
      for (const [user_id, task] of tasksOf(inputs, reviewing, now))
        after.set(user_id, { user_id, status, place: next.place, ...task });
    }
    const users = [...new Set([...before.keys(), ...after.keys()])];
    const changes = users
      .map((user) => ({ user, before: before.get(user), after: after.get(user) }))
      .filter((change) => !isSame(change.before, change.after));
    const hasSameHead = head?.place === next?.place && (head?.recheck_at ?? null) === (next?.recheck_at ?? null);
    if (hasSameHead && changes.length === 0) return;
    const write = () => writeChanges(table, { domain, number }, { head, next, changes });
    await withNews(table, { domain, news: changes.flatMap(newsIn), now }, write).catch((error: unknown) => {
      if (error instanceof PlaceTakenError) placesTaken += 1;
      throw error;
    });
  });
}

/** The error of a write if another computation has the place in the list of last changes. */
class PlaceTakenError extends StaleReadError {
  override readonly name = 'PlaceTakenError';
}

const isSame = (one: object | undefined, other: object | undefined) => JSON.stringify(one) === JSON.stringify(other);

interface Changes {
  head: Head | undefined;
  /** The head after the changes, without its version. Undefined if the computation is deleted. */
  next: Omit<Head, 'version'> | undefined;
  changes: { user: string; before: StoredTask | undefined; after: StoredTask | undefined }[];
}

/**
 * Writes changes of what waits in a computation, in as many transactions as they take. Each makes a new version of the head and asserts
 * the one before, so that the changes of a list's member have an order.
 * @throws StaleReadError if the head has changed since it was read
 */
async function writeChanges(table: Table, thing: Place, { head, next, changes }: Changes): Promise<void> {
  let seen = head;
  const left = [...changes];
  do {
    const transaction = new Transaction();
    const version = (seen?.version ?? 0) + 1;
    if (seen?.place !== next?.place) movePlace(transaction, thing, { before: seen?.place, now: next?.place, version });
    moveRecheck(transaction, thing, seen?.recheck_at ?? null, next?.recheck_at ?? null);
    while (left.length > 0 && transaction.actionsLeft > mostOfUser) changeTask(transaction, thing, version, left.shift());
    const kept = next ?? (left.length > 0 ? { updated_at: '', place: 0, recheck_at: null } : undefined);
    replaceSeen(transaction, todoKeys.head(thing.domain, thing.number), seen, kept);
    if (!transaction.isEmpty) await transaction.commit(table);
    seen = kept && { ...kept, version };
  } while (left.length > 0);
}

/**
 * The time in seconds for which a place stays taken that a computation has left: nobody takes it later, as it stands for a past time. It still
 * leads to the computation, for a request that has read it in a list.
 */
const leftForSeconds = 7 * 24 * 3600;

function movePlace(
  transaction: Transaction,
  { domain, number }: Place,
  { before, now, version }: { before: number | undefined; now: number | undefined; version: number },
): void {
  const list = rowLists.updated(domain);
  if (before) {
    const ttl = Math.ceil(Date.now() / 1000) + leftForSeconds;
    transaction.add({ put: { Item: { ...listKeys.row(lists.updated(domain), before), computation: number, ttl } } });
    recordMember(transaction, list, { number: before, version, before: 'all' });
  }
  if (now === undefined) return;
  const Item = { ...listKeys.row(lists.updated(domain), now), computation: number };
  transaction.add({ put: { Item, ...isAbsent }, otherwise: new PlaceTakenError() });
  recordMember(transaction, list, { number: now, version, now: 'all' });
}

function moveRecheck(transaction: Transaction, { domain, number }: Place, before: string | null, after: string | null): void {
  if (before === after) return;
  const thing = { domain, kind: 'computation' as const, number };
  if (before !== null) transaction.add({ delete: { Key: recheckKeys.recheck(before, nameOf(thing)) } });
  if (after !== null) transaction.add({ put: { Item: { ...recheckKeys.recheck(after, nameOf(thing)), ...thing } } });
}

function changeTask(
  transaction: Transaction,
  { domain, number }: Place,
  version: number,
  change: Changes['changes'][number] | undefined,
): void {
  if (!change) return;
  const { user, before, after } = change;
  const hash = hashOfUser(user);
  const key = todoKeys.user(domain, number, user);
  transaction.add(after ? { put: { Item: { ...key, ...after } } } : { delete: { Key: key } });

  const [were, are] = [before, after].map((task) => membersOf(domain, number, task));
  for (const name of new Set([...(were?.keys() ?? []), ...(are?.keys() ?? [])])) {
    const [one, other] = [were?.get(name), are?.get(name)];
    const { list, at } = one ?? other ?? {};
    if (!list || at === undefined || one?.state === other?.state) continue;
    recordMember(transaction, list, { number: at, version, before: one?.state, now: other?.state });
  }

  const [invited, invites] = [before, after].map((task) => task?.invitation?.owner);
  const invitation = (owner: string) => todoKeys.invitation(domain, hash, hashOfUser(owner), number);
  if (invited !== invites) {
    if (invited !== undefined) transaction.add({ delete: { Key: invitation(invited) } });
    if (invites !== undefined) transaction.add({ put: { Item: { ...invitation(invites) } } });
  }
  const more = (after?.refusals ?? 0) - (before?.refusals ?? 0);
  if (more !== 0) {
    const add = { UpdateExpression: 'ADD refusals :more', ExpressionAttributeValues: { ':more': more } };
    transaction.add({ update: { Key: todoKeys.refusals(domain, hash), ...add } });
  }
}

/** Added to the number of a user's own computation in lists of tasks, so that it comes before those of others. */
const ownFirst = 2 ** 47;

/** Returns the number of a computation from its number in a list of tasks. */
export const numberOfTask = (number: number) => (number >= ownFirst ? number - ownFirst : number);

interface Member {
  list: RowList;
  at: number;
  state: string;
}

/** Returns the kinds of tasks that wait for a user in a computation. */
function kindsOf(task: StoredTask) {
  const kinds = {
    approvals: task.approval !== null,
    keys: task.needs_key,
    refusals: task.refusals > 0,
    invitations: task.invitation !== null,
  };
  return (Object.keys(kinds) as (keyof typeof kinds)[]).filter((kind) => kinds[kind]);
}

/** Returns what begins to wait for a user with a change, at most one of each kind of news. */
function newsIn({ user, before, after }: Changes['changes'][number]): News[] {
  const known = new Set(before && kindsOf(before));
  const begun = after ? kindsOf(after).filter((kind) => !known.has(kind)) : [];
  const isRefused = (after?.refusals ?? 0) > (before?.refusals ?? 0);
  const hasTask = isRefused || begun.some((kind) => kind !== 'invitations');
  return [
    ...(hasTask ? [{ userId: user, kind: 'tasks' as const }] : []),
    ...(begun.includes('invitations') ? [{ userId: user, kind: 'invitations' as const }] : []),
  ];
}

/** Returns the members of lists that stand for what waits for a user in a computation, by list and number. */
function membersOf(domain: string, number: number, task: StoredTask | undefined): Map<string, Member> {
  if (!task) return new Map();
  const { user_id: user, status, place, is_own } = task;
  const members = [
    { list: rowLists.waiting(domain, user), at: number, state: status },
    { list: rowLists.tasks(domain, user, 'updated'), at: place, state: 'all' },
    ...kindsOf(task).map((kind) => ({
      list: rowLists.tasks(domain, user, kind),
      at: is_own ? number + ownFirst : number, // defence
      state: 'all',
    })),
  ];
  return new Map(members.map((member) => [`${member.list.name} ${member.at}`, member]));
}

/** The places for computations that change in one millisecond, and the time at which places begin: 34 years of them are below 2^48. */
const placesPerMillisecond = 256;
const placesBegin = Date.UTC(2020, 0);

/**
 * Returns a place in the list of last changes for a computation, which sorts by the time of its change. Of those that change in the same
 * millisecond, the order is mostly that of their numbers.
 * @param taken how many places were taken: so many in one millisecond need those of the next ones too
 */
function somePlace({ id, updated_at }: StoredComputation, taken: number): number {
  const first = Math.max(0, Date.parse(updated_at) - placesBegin) * placesPerMillisecond;
  return first + (taken === 0 ? computationNumber(id) % placesPerMillisecond : randomInt(placesPerMillisecond * 4 ** taken));
}

const storedSight = v.object({ version: v.number(), id: v.string(), digest: v.string(), pending_of: v.nullable(v.string()) });

/** Follows a change of an asset: of its content, on which its creator's list depends, and of all computations that it is linked to. */
async function followAsset(table: Table, { domain, number }: Place, now: string): Promise<void> {
  const key = todoKeys.asset(domain, number);
  await untilFollowed(table, async (table) => {
    const [row, item] = await getItems(table, [listKeys.row(lists.assets(domain), number), key]);
    const asset = row && parseStored(storedAsset, row, 'asset');
    const seen = item && parseStored(storedSight, item, 'sight of an asset');
    const { version: _, closing_until: _closing, ...shown } = asset ?? {};
    const sight = asset && {
      id: asset.id,
      digest: createHash('sha256').update(JSON.stringify(shown)).digest('base64url'),
      pending_of: asset.state === 'pending' ? asset.created_by : null,
    };
    if (seen?.digest === sight?.digest) return true;
    const linked = await readLinkedIds(table, seen?.id ?? sight?.id ?? '');
    await inParallel(linked, (id) => followComputation(table, { domain, number: computationNumber(id) }, now));
    const transaction = new Transaction();
    const version = replaceSeen(transaction, key, seen, sight);
    const users = { before: waitingIn(seen?.pending_of), after: waitingIn(sight?.pending_of) };
    moveTask(transaction, (user) => rowLists.tasks(domain, user, 'content'), { number, version }, users);
    await transaction.commit(table);
    return false;
  });
}

const waitingIn = (user: string | null | undefined) => (user == null ? [] : [user]);

/** The reviewers who have not decided on the result of a run, as an item beside the tasks of its computation. */
const waitingBeside = v.object({ waiting: v.array(v.string()) });
const waitingReview = v.object({
  version: v.number(),
  /** The number of the computation of the run. */
  computation: v.number(),
  ...waitingBeside.entries,
});

/** Follows a change of a run: for whose decision its result waits. */
async function followRun(table: Table, { domain, number }: Place, now: string): Promise<void> {
  const key = todoKeys.run(domain, number);
  let computation: number | undefined;
  await untilFollowed(table, async (table) => {
    const [row, item] = await getItems(table, [listKeys.row(lists.runs(domain), number), key]);
    const run = row && parseStored(runSchema, row, 'run');
    const seen = item && parseStored(waitingReview, item, 'review');
    const users = { before: seen?.waiting ?? [], after: run ? await reviewersAwaited(table, run) : [] };
    const { after: waiting } = users;
    computation = seen?.computation ?? (run?.result ? computationNumber(run.computation_id) : undefined);
    if (computation === undefined || (isSame(users.before, waiting) && (run || !seen))) return true;
    const transaction = new Transaction();
    const version = replaceSeen(transaction, key, seen, run && { computation, waiting });
    const beside = todoKeys.review(domain, computation, number);
    transaction.add(waiting.length > 0 ? { put: { Item: { ...beside, waiting } } } : { delete: { Key: beside } });
    moveTask(transaction, (user) => rowLists.tasks(domain, user, 'reviews'), { number, version }, users);
    const begun = waiting.filter((user) => !users.before.includes(user));
    const news = begun.map((userId): News => ({ userId, kind: 'tasks' }));
    await withNews(table, { domain, news, now }, () => transaction.commit(table));
    return false;
  });
  if (computation !== undefined) await followComputation(table, { domain, number: computation }, now);
}

/** Returns the reviewers for whose decision the result of a run waits, in their order. */
async function reviewersAwaited(table: Table, { id, computation_id, status, result }: Run): Promise<string[]> {
  if (status !== 'completed' || !result || result.state === 'released' || result.state === 'withheld') return [];
  const snapshot = await getItem(table, runKeys.snapshot(computation_id, id));
  const { reviewers = [] } = (snapshot && parseSnapshot([snapshot]).result_review) ?? {};
  return reviewers.filter((user) => !result.decisions.some(({ reviewer }) => reviewer === user));
}
