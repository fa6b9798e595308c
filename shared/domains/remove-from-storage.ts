import { requireAccess } from '../access/caller.ts';
import type { ContentStore } from '../assets/content-store.ts';
import { steadyTimeOf, type Clock } from '../runtime/clock.ts';
import { countDomain, noCounts, removeDomain, runIdsOf, type DomainCounts } from '../deletion/remove-domain.ts';
import { ServiceError } from '../runtime/errors.ts';
import { readClaimsOfDomain } from '../runs/claim.ts';
import type { Executions } from '../runs/executions.ts';
import { stopRun } from '../runs/stop-run.ts';
import type { AnyKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { countContent, removeContent, type ContentCounts } from './remove-content.ts';
import type { RemovedUsers, UserDirectory } from './user-directory.ts';

/** How long a closed domain may still change. Times are milliseconds since the Unix epoch. */
export interface Closing {
  /** Until then, requests may still change something. */
  changesEndAt: number;
  /** Until then, something may still arrive in the bucket, and a token of a removed user is valid. */
  isOverAt: number;
}

/** Where domains are stored, and how they are closed. */
export interface DomainStorage {
  clock: Clock;
  table: Table;
  content: ContentStore;
  executions: Executions;
  /** Undefined if the users are kept elsewhere. */
  users: UserDirectory | undefined;
  /** Refuses the changes of a domain. May be repeated. @param fromNow whether users had tokens until now */
  close: (domain: string, fromNow: boolean) => Promise<Closing>;
  /** Opens the domain again, as an empty one. */
  open: (domain: string) => Promise<void>;
  /** Whether an item is what keeps the domain closed. */
  closesDomain: (key: AnyKey, domain: string) => boolean;
  /** How long a request may take that only reads, and records that it did. */
  readsEndInMilliseconds: number;
  /** Deletes the logs of runs, also of those that do not exist any more. Returns how many there were. Undefined if they cannot be deleted. */
  removeRunLogs?: (domain: string, runIds: string[]) => Promise<number>;
}

/** What a service has of a domain. */
export interface DomainContents {
  items: DomainCounts;
  content: ContentCounts;
  /** The memberships that somebody has. Undefined if the users are kept elsewhere. */
  roles?: string[];
  activeRuns: number;
}

/** What a removal did. */
export interface Removed {
  items: DomainCounts;
  content: ContentCounts;
  users?: RemovedUsers;
  runLogs?: number;
  /** The removal must be repeated after this time. RFC 3339. Undefined: nothing is left to do. */
  repeatAfter?: string;
  /** Whether the data is still there, because it cannot be kept from changes before that time. */
  isDataLeft?: true;
}

export interface RemovalOptions {
  domain: string;
  /** Stops active runs. Without it, a domain with active runs is not removed. */
  stop: boolean;
  /** Waits until the removal is over, up to the lifetime of the tokens. */
  wait: boolean;
  /** Gets a line for each step. */
  say: (line: string) => void;
}

export async function contentsOf(storage: DomainStorage, domain: string): Promise<DomainContents> {
  const stays = (key: AnyKey) => storage.closesDomain(key, domain);
  const [items, content, roles, claims] = await Promise.all([
    countDomain(storage.table, { domain, stays }),
    countContent(storage.content, domain),
    storage.users?.membershipsIn(domain),
    readClaimsOfDomain(storage.table, domain),
  ]);
  return { items, content, activeRuns: claims.length, ...(roles ? { roles } : {}) };
}

/**
 * Removes everything of a domain. First its users, so that nobody gets a new token, then closes it, so that the tokens that exist change
 * nothing, then removes what is stored. May be interrupted at any point and repeated.
 * @throws Error if runs are active, and `stop` is not set
 */
export async function removeFromStorage(storage: DomainStorage, options: RemovalOptions): Promise<Removed> {
  const { domain, stop, wait, say } = options;
  const { clock } = storage;
  if (!stop) await refuseWhileActive(storage.table, domain);
  const users = await storage.users?.removeDomain(domain);
  if (users) say(`Removed ${users.users} users and ${users.roles} roles.`);
  const closing = await storage.close(domain, (users?.roles ?? 0) > 0);
  const none = { items: noCounts(), content: { objects: 0, bytes: 0 }, ...(users ? { users } : {}) };
  const pause = closing.changesEndAt - clock.now();
  if (pause > longestPauseInMilliseconds && !wait)
    return { ...none, repeatAfter: textOf(closing.changesEndAt), isDataLeft: true };
  if (pause > 0) {
    say(`Waiting until ${textOf(closing.changesEndAt)}: requests that came before may still change something.`);
    await clock.wait(pause);
  }
  if (stop) await stopRuns(storage, domain, say);
  else await refuseWhileActive(storage.table, domain);

  const removed = await removeData(storage, domain, say);
  if (clock.now() < closing.isOverAt) {
    const repeatAfter = textOf(closing.isOverAt);
    if (!wait) return { ...removed, ...(users ? { users } : {}), repeatAfter };
    say(`Waiting until ${repeatAfter}, when the last tokens and uploads expire.`);
    await clock.wait(closing.isOverAt - clock.now());
    const late = await removeData(storage, domain, say);
    for (const kind of Object.keys(late.items) as (keyof DomainCounts)[]) removed.items[kind] += late.items[kind];
    removed.content.objects += late.content.objects;
    removed.content.bytes += late.content.bytes;
  }
  await storage.open(domain);
  return { ...removed, ...(users ? { users } : {}) };
}

/** Longer pauses are left to the user, unless `wait` is set. */
const longestPauseInMilliseconds = 60_000;

function textOf(time: number): string {
  return new Date(time).toISOString();
}

async function removeData(
  storage: DomainStorage,
  domain: string,
  say: RemovalOptions['say'],
): Promise<Pick<Removed, 'items' | 'content' | 'runLogs'>> {
  const stays = (key: AnyKey) => storage.closesDomain(key, domain);
  let runLogs: number | undefined;
  if (storage.removeRunLogs) {
    runLogs = await storage.removeRunLogs(domain, await runIdsOf(storage.table, domain));
  }
  const { clock } = storage;
  let said = steadyTimeOf(clock);
  const onProgress = (found: DomainCounts) => {
    if (steadyTimeOf(clock) - said < 5_000) return;
    said = steadyTimeOf(clock);
    say(`Removed ${Object.values(found).reduce((sum, count) => sum + count, 0)} items.`);
  };
  const items = await removeDomain(storage.table, {
    domain,
    stays,
    settle: async () => await clock.wait(storage.readsEndInMilliseconds),
    onProgress,
  });
  const content = await removeContent(storage.content, domain);
  return { items, content, ...(runLogs === undefined ? {} : { runLogs }) };
}

async function refuseWhileActive(table: Table, domain: string): Promise<void> {
  const [claim, ...others] = await readClaimsOfDomain(table, domain);
  if (!claim) return;
  const runs = others.length === 0 ? `The run ${claim.run_id} is` : `${others.length + 1} runs, such as ${claim.run_id}, are`;
  throw new Error(`${runs} active. Wait for the end, or stop active runs with --stop.`);
}

/** Longer than a stop may take: `stopInSeconds` of the stage, until a CVM that does not answer is given up. */
const longestStopInMilliseconds = 15 * 60_000;

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

/** The originator of the stop in the journal, which is removed with the domain. */
const operator = 'operator';

function unlessOver(error: unknown): undefined {
  if (!(error instanceof ServiceError && (error.code === 'conflict' || error.code === 'not_found'))) throw error;
}
