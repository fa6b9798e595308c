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

/** Milliseconds since the Unix epoch. */
export interface Closing {
  /** Until then, requests may still change something. */
  changesEndAt: number;
  /** Until then, something may still arrive in the bucket, and a token of a removed user is valid. */
  isOverAt: number;
}

export interface DomainStorage {
  clock: Clock;
  table: Table;
  content: ContentStore;
  executions: Executions;
  /** Undefined if the users are kept elsewhere. */
  users: UserDirectory | undefined;
  /** Refuses the changes of a domain. May be repeated. @param fromNow whether users had tokens until now */
  close: (domain: string, fromNow: boolean) => Promise<Closing>;
  /** For a request that only reads, and records that it did. */
  readsEndInMilliseconds: number;
  /** Returns how many there were. Undefined if they cannot be deleted. */
  removeRunLogs?: (domain: string) => Promise<number>;
}

const countedKinds = ['computations', 'runs', 'assets', 'CVMs', 'events', 'kept answers', 'other items'] as const;

export type DomainCounts = Record<(typeof countedKinds)[number], number>;

export interface ContentCounts {
  objects: number;
  bytes: number;
}

export interface DomainContents {
  items: DomainCounts;
  content: ContentCounts;
  /** That somebody has. Undefined if the users are kept elsewhere. */
  roles?: string[];
  activeRuns: number;
}

export interface Removed {
  items: DomainCounts;
  content: ContentCounts;
  users?: RemovedUsers;
  runLogs?: number;
  /** When the removal must be repeated. Undefined: nothing is left to do. */
  repeatAfter?: string;
  /** It cannot be kept from changes before that time. */
  isDataLeft?: true;
}

export interface RemovalOptions {
  domain: string;
  /** Without it, a domain with active runs is not removed. */
  stop: boolean;
  /** Up to the lifetime of the tokens. */
  wait: boolean;
  say: (line: string) => void;
}

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

/** Longer pauses are left to the user, unless `wait` is set. */
const longestPauseInMilliseconds = 60_000;

/**
 * May be interrupted at any point and repeated (docs/domains.md#removing-a-domain).
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

/** The second pass finds what a fold or a purge leaves that was at work in the first. */
const mostPasses = 5;

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

async function eachObject(
  { client, bucket: Bucket }: ContentStore,
  domain: string,
  work: (key: string) => Promise<void>,
): Promise<ContentCounts> {
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

/** The sweep remembers the claims that it looked at last. */
async function forgetPlaceOfSweep(table: Table, domain: string): Promise<void> {
  const { suspect, other } = await readSweepState(table);
  if (suspect?.domain !== domain && other?.domain !== domain) return;
  await writeSweepState(table, {
    suspect: suspect?.domain === domain ? undefined : suspect,
    other: other?.domain === domain ? undefined : other,
  });
}

async function refuseWhileActive(table: Table, domain: string): Promise<void> {
  const [claim, ...others] = await readClaimsOfDomain(table, domain);
  if (!claim) return;
  const runs = others.length === 0 ? `The run ${claim.run_id} is` : `${others.length + 1} runs, such as ${claim.run_id}, are`;
  throw new Error(`${runs} active. Wait for the end, or stop active runs with --stop.`);
}

/** Longer than a stop may take. */
const longestStopInMilliseconds = 15 * 60_000;

const operator = 'operator';

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

/** Counted by itself, by the beginning of the partition's name and the sort key. */
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
