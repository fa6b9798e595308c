import { paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { requireAccess } from '../http/caller.ts';
import { contentPrefixesOf, deleteContent, type ContentStore } from '../rows/content-store.ts';
import { walkDomain } from '../deletion/index.ts';
import { ServiceError } from '../runtime/errors.ts';
import { inParallel } from '../runtime/in-parallel.ts';
import { readClaimsOfDomain } from '../rows/claim.ts';
import { type Executions, readSweepState, writeSweepState } from '../lifecycle/index.ts';
import { stopRun } from '../runs/index.ts';
import { answerKeys, cvmKeys, journalKeys, lists, type AnyKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { deleteAny } from '../table/writes.ts';
import { openDomain } from '../rows/closed-domain.ts';
import type { RemovedUsers, UserDirectory } from './manage-users.ts';
import { steadyTimeOf, type Clock } from '../runtime/deadline.ts';

/** The times until which a domain that is closed for its removal may still change, in milliseconds since the Unix epoch. */
export interface Closing {
  /** The time until which requests may still change something in the closed domain, in milliseconds since the Unix epoch. */
  changesEndAt: number;
  /**
   * The time, in milliseconds since the Unix epoch, until which uploads to the closed domain may still arrive in the bucket, and
   * a token of a removed user is valid.
   */
  isOverAt: number;
}

/** Everything that the removal of a domain needs to reach: the table, storage, executions of runs, users and logs. */
export interface DomainStorage {
  clock: Clock;
  table: Table;
  content: ContentStore;
  executions: Executions;
  /** The directory of the users and their roles. Undefined if the users are kept elsewhere. */
  users: UserDirectory | undefined;
  /**
   * Closes a domain, so that changes of it are refused from then on. May be repeated.
   * @param fromNow whether users had tokens until now
   */
  close: (domain: string, fromNow: boolean) => Promise<Closing>;
  /** The longest time in milliseconds of a request that only reads from a domain, and records the read. */
  readsEndInMilliseconds: number;
  /**
   * Deletes the logs of a domain's runs outside of the table, and returns how many there were. Undefined if they cannot be
   * deleted.
   */
  removeRunLogs?: (domain: string) => Promise<number>;
}

const countedKinds = ['computations', 'runs', 'assets', 'CVMs', 'events', 'kept answers', 'other items'] as const;

/** The number of items of each kind in a domain. */
export type DomainCounts = Record<(typeof countedKinds)[number], number>;

interface Counted {
  items: DomainCounts;
  content: { objects: number; bytes: number };
}

/** The contents of a domain, counted. */
export interface DomainContents extends Counted {
  /** The roles that somebody has in the domain, as memberships such as `d1:viewer`. Undefined if the users are kept elsewhere. */
  roles?: string[];
  activeRuns: number;
}

/** The result of the removal of a domain: counts of what was removed, and a time if something is left to do. */
export interface Removed extends Counted {
  users?: RemovedUsers;
  runLogs?: number;
  /** The time, in RFC 3339, after which the removal of the domain must be repeated. Undefined if nothing is left to do. */
  repeatAfter?: string;
  /**
   * Present if nothing but users has been removed from the domain yet: requests may still change the domain until `repeatAfter`.
   */
  isDataLeft?: true;
}

/** The options for the removal of a domain. */
export interface RemovalOptions {
  domain: string;
  /** True if the removal of the domain stops its active runs. False if the removal is refused while a run is active. */
  stop: boolean;
  /**
   * True if the removal of the domain waits as long as it needs, up to the lifetime of the tokens. False if it waits for up to a
   * minute, and then says when to repeat the removal.
   */
  wait: boolean;
  say: (line: string) => void;
}

/** Counts the items, the content and the active runs of a domain, and lists its roles. Changes nothing. */
export async function contentsOf({ table, content, users }: DomainStorage, domain: string): Promise<DomainContents> {
  const items = noCounts();
  const [counted, roles, claims] = await Promise.all([
    eachObject(content, domain, () => Promise.resolve()),
    users?.membershipsIn(domain),
    readClaimsOfDomain(table, domain),
    walkDomain(table, domain, (keys) => Promise.resolve(count(items, keys))),
  ]);
  return { items, content: counted, activeRuns: claims.length, ...(roles ? { roles } : {}) };
}

/**
 * The longest pause in milliseconds that the removal of a domain makes by itself. Longer pauses are left to the user, unless
 * `wait` is set.
 */
const longestPauseInMilliseconds = 60_000;

/**
 * Removes a domain with its users, runs, items and content. May be interrupted at any point and repeated
 * (docs/domains.md#removing-a-domain).
 * @throws Error if runs are active, and `stop` is not set
 */
export async function removeDomain(storage: DomainStorage, options: RemovalOptions): Promise<Removed> {
  const { domain, stop, wait, say } = options;
  const { clock, table } = storage;
  if (!stop) await refuseWhileActive(table, domain);
  const users = await storage.users?.removeDomain(domain);
  if (users) say(`Removed ${users.users} users and ${users.roles} roles.`);
  const removed: Removed = { items: noCounts(), content: { objects: 0, bytes: 0 }, ...(users ? { users } : {}) };
  const { changesEndAt, isOverAt } = await storage.close(domain, (users?.roles ?? 0) > 0);
  const pause = changesEndAt - clock.now();
  if (pause > longestPauseInMilliseconds && !wait) return { ...removed, repeatAfter: textOf(changesEndAt), isDataLeft: true };
  if (pause > 0) {
    say(`Waiting until ${textOf(changesEndAt)}: requests that came before may still change something.`);
    await clock.wait(pause);
  }
  if (stop) await stopRuns(storage, domain, say);
  else await refuseWhileActive(table, domain);

  await removeData(storage, options, removed);
  if (clock.now() < isOverAt) {
    const repeatAfter = textOf(isOverAt);
    if (!wait) return { ...removed, repeatAfter };
    say(`Waiting until ${repeatAfter}, when the last tokens and uploads expire.`);
    await clock.wait(isOverAt - clock.now());
    await removeData(storage, options, removed);
  }
  await openDomain(table, domain);
  return removed;
}

function textOf(time: number): string {
  return new Date(time).toISOString();
}

/**
 * The largest number of times that the removal of a domain walks through its items. The second walk finds what background work
 * that had begun before the first walk, such as a purge, has left.
 */
const mostPasses = 5;

/**
 * Deletes the items and the content of a domain, and repeats the deletion until nothing is found. Adds to the counts in
 * `removed`.
 * @throws Error if items are still found after five walks
 */
async function removeData(storage: DomainStorage, { domain, say }: RemovalOptions, removed: Removed): Promise<void> {
  const { table, content, clock } = storage;
  if (storage.removeRunLogs) removed.runLogs = (removed.runLogs ?? 0) + (await storage.removeRunLogs(domain));
  let said = steadyTimeOf(clock);
  for (let pass = 1, found = 1; found > 0; pass++) {
    if (pass > mostPasses) throw new Error(`Items of the domain ${domain} are written again and again. Does somebody use it?`);
    found = 0;
    await walkDomain(table, domain, async (keys) => {
      found += keys.length;
      await deleteAny(table, keys);
      count(removed.items, keys);
      if (steadyTimeOf(clock) - said < 5_000) return;
      said = steadyTimeOf(clock);
      say(`Removed ${Object.values(removed.items).reduce((sum, each) => sum + each, 0)} items.`);
    });
    if (pass === 1 && found > 0) await clock.wait(storage.readsEndInMilliseconds);
  }
  await forgetPlaceOfSweep(table, domain);
  const { objects, bytes } = await eachObject(content, domain, (key) => deleteContent(content, key));
  removed.content.objects += objects;
  removed.content.bytes += bytes;
}

/** Calls `work` for each object of a domain in storage. @returns the number of objects and their bytes */
async function eachObject({ client, bucket: Bucket }: ContentStore, domain: string, work: (key: string) => Promise<void>) {
  const counts = { objects: 0, bytes: 0 };
  for (const Prefix of contentPrefixesOf(domain)) {
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix })) {
      await inParallel(Contents, ({ Key = '' }) => work(Key));
      counts.objects += Contents.length;
      counts.bytes += Contents.reduce((sum, { Size = 0 }) => sum + Size, 0);
    }
  }
  return counts;
}

/** Removes a domain from what the sweep of runs remembers: the CVMs whose runs it looked at last. */
async function forgetPlaceOfSweep(table: Table, domain: string): Promise<void> {
  const { suspect, other } = await readSweepState(table);
  if (suspect?.domain !== domain && other?.domain !== domain) return;
  const [keptSuspect, keptOther] = [suspect, other].map((cvm) => (cvm?.domain === domain ? undefined : cvm));
  await writeSweepState(table, { suspect: keptSuspect, other: keptOther });
}

/** Throws if a run of the domain is active. @throws Error that names a run */
async function refuseWhileActive(table: Table, domain: string): Promise<void> {
  const [claim, ...others] = await readClaimsOfDomain(table, domain);
  if (!claim) return;
  const runs = others.length === 0 ? `The run ${claim.run_id} is` : `${others.length + 1} runs, such as ${claim.run_id}, are`;
  throw new Error(`${runs} active. Wait for the end, or stop active runs with --stop.`);
}

/** The time in milliseconds that the removal of a domain waits for its runs to stop. A stop takes less. */
const longestStopInMilliseconds = 15 * 60_000;

const operator = 'operator';

/** Stops all active runs of a domain, and waits until they have ended. @throws Error if runs are still active after 15 minutes */
async function stopRuns({ table, executions, clock }: DomainStorage, domain: string, say: RemovalOptions['say']): Promise<void> {
  const givesUpAt = steadyTimeOf(clock) + longestStopInMilliseconds;
  const stopped = new Set<string>();
  for (;;) {
    const claims = await readClaimsOfDomain(table, domain);
    if (claims.length === 0) return;
    if (steadyTimeOf(clock) > givesUpAt) throw new Error(`${claims.length} runs are still active. Repeat the command.`);
    for (const { computation_id: computationId, run_id } of claims.filter((claim) => !stopped.has(claim.run_id))) {
      const now = textOf(clock.now());
      const allowed = () => requireAccess({ id: operator, roles: new Set(), actions: new Set(['run']) }, { anyOf: ['run'] });
      await stopRun(table, executions, { domain, computationId, by: operator, now, permit: allowed }).catch(unlessOver);
      stopped.add(run_id);
      say(`Stopping the run ${run_id}.`);
    }
    await clock.wait(1_000);
  }
}

function unlessOver(error: unknown): undefined {
  if (!(error instanceof ServiceError && (error.code === 'conflict' || error.code === 'not_found'))) throw error;
}

export function noCounts(): DomainCounts {
  return Object.fromEntries(countedKinds.map((kind) => [kind, 0])) as DomainCounts;
}

function count(counts: DomainCounts, keys: AnyKey[]): void {
  for (const key of keys) counts[kindOf(key)] += 1;
}

/**
 * The kinds of items of a domain that are counted separately, each by the beginning of the partition's name and of the sort key.
 */
const kinds: [kind: keyof DomainCounts, pk: string, sk: string][] = [
  ['computations', lists.computations('').pk, ''],
  ['runs', lists.runs('').pk, ''],
  ['assets', lists.assets('').pk, ''],
  ['CVMs', cvmKeys.cvm('', '').pk.slice(0, -1), ''],
  ['events', journalKeys.partition(''), journalKeys.prefixes.event],
  ['kept answers', answerKeys.partition(''), ''],
];

function kindOf({ pk, sk }: AnyKey): keyof DomainCounts {
  const found = kinds.find(([, partition, prefix]) => pk.startsWith(partition) && sk.startsWith(prefix));
  return found?.[0] ?? 'other items';
}
