import { createHash } from 'node:crypto';
import {
  afterAllNumbers,
  BacklogError,
  type Change,
  countedList,
  type CountedList,
  type ListTable,
  recordChange,
  type ReadRows,
} from 'computation-management-counted-list';
import { resultType } from 'computation-management-formats/vocabulary';
import { ServiceError } from '../runtime/errors.ts';
import { emitMetric, log } from '../runtime/log.ts';
import { type List, listKeys, listNames, lists, writableKey } from './keys.ts';
import { clockOf, deadlineOf, type Table, type Item, queryBetween, getItemsOf } from './table.ts';
import type { Transaction } from './transaction.ts';
import { type Deadline, untilAborted } from '../runtime/deadline.ts';

export { batched } from 'computation-management-counted-list';

const maxWaitInMilliseconds = 250;

interface SharedRead<T> {
  result: Promise<T>;
  /** The next read of the same data of the table. Requests that came while the present read was under way share the next one. */
  next?: NextRead<T>;
}

interface NextRead<T> {
  read: () => Promise<T>;
  deadline: Deadline;
  result: Promise<T>;
}

/**
 * Lets requests for the same data share a read. While a read is under way, further requests wait for its end and share the next
 * read, so this one contains all that was acknowledged before they came. A request that comes alone does not wait.
 */
export class SharedReads<T> {
  /**
   * The latest read of each kind of data, by the client of the table and by the name of the data. Requests that come meanwhile
   * share the next read.
   */
  private readonly ofClients = new WeakMap<object, Map<string, SharedRead<T>>>();

  /**
   * Reads data from the table, or joins the next read of the same data if another request reads it now.
   * @param what names what is read from the table
   * @param read called by the request with the most time left
   * @returns what all sharing requests get: nobody may change it
   * @throws what `read` throws; TimeoutError at the request's deadline
   */
  share(table: Table, what: string, read: () => Promise<T>): Promise<T> {
    const reads = this.ofClients.get(table.document) ?? new Map<string, SharedRead<T>>();
    this.ofClients.set(table.document, reads);
    const name = `${table.name} ${what}`;
    const latest = reads.get(name);
    if (!latest) return begin(reads, name, read);
    const deadline = deadlineOf(table);
    latest.next ??= nextAfter(latest.result, { reads, name, read, deadline });
    if (deadline.remaining > latest.next.deadline.remaining) Object.assign(latest.next, { read, deadline });
    return untilAborted(latest.next.result, deadline.signal());
  }
}

type Reads<T> = Map<string, SharedRead<T>>;

async function begin<T>(reads: Reads<T>, name: string, read: () => Promise<T>): Promise<T> {
  const own: SharedRead<T> = { result: (async () => await read())() };
  reads.set(name, own);
  try {
    return await own.result;
  } finally {
    if (reads.get(name) === own && !own.next) reads.delete(name);
  }
}

function nextAfter<T>(
  earlier: Promise<unknown>,
  { reads, name, read, deadline }: { reads: Reads<T>; name: string; read: () => Promise<T>; deadline: Deadline },
): NextRead<T> {
  const result = ended(earlier).then(() => begin(reads, name, next.read));
  const next: NextRead<T> = { read, deadline, result };
  return next;
}

function ended(read: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, maxWaitInMilliseconds);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    read.then(end, end);
  });
}

/** A list whose members have rows and one of several states. The codes of states are stored, and never change. */
export interface RowList<Value extends string = string> {
  rows: List;
  name: string;
  states: Readonly<Record<Value, number>>;
  /** The name of the attribute with the state of a row. Absent if all members have the same state. */
  stateAttribute?: string;
  /** The user whose computations the list has. Absent if it is a list of all rows. */
  owner?: string;
  /** Tells whether a row is of a member of the list. Absent if it is a list of all rows, or of an owner's. */
  has?: (row: Item) => boolean;
}

const computationStates = { created: 1, running: 2, stopping: 3, completed: 4, failed: 5, cancelled: 6 } as const;
const { created: _, ...runStates } = computationStates;
const assetStates = { algorithm: 1, dataset: 2 } as const;
const oneState = { all: 1 } as const;

function listOf<Value extends string>(rows: List, states: Record<Value, number>, stateAttribute?: string): RowList<Value> {
  return { rows, name: rows.pk, states, ...(stateAttribute === undefined ? {} : { stateAttribute }) };
}

/** Functions that return a list of the service, such as the runs of a domain, with its name and the states of its members. */
export const rowLists = {
  computations: (domain: string) => listOf(lists.computations(domain), computationStates, 'status'),
  /** The list of one owner's computations. The lists of all owners of a domain share their partitions. */
  ownedComputations: (domain: string, owner: string): RowList<keyof typeof computationStates> => ({
    ...rowLists.computations(domain),
    name: `${lists.ownedComputations(domain).pk}/${hashOfUser(owner)}`,
    owner,
  }),
  /** The list of the computations that wait for a user, by their status. All lists of what waits in a domain share their partitions. */
  waiting: (domain: string, user: string): RowList<keyof typeof computationStates> => ({
    ...rowLists.computations(domain),
    name: nameOfWaiting(domain, user, statusPart),
  }),
  /**
   * A list of what waits for a user: the computations of one kind of task, numbered so that the user's own come first; the assets without
   * content; the runs with a result to review; or all waiting computations, by their place in the list of last changes.
   */
  tasks: (domain: string, user: string, kind: TaskList): RowList<'all'> => ({
    ...listOf(
      kind === 'content' ? lists.assets(domain) : kind === 'reviews' ? lists.runs(domain) : lists.computations(domain),
      oneState,
    ),
    name: nameOfWaiting(domain, user, kind),
  }),
  /** The list of a domain's computations by the time of their last change. */
  updated: (domain: string) => listOf(lists.updated(domain), oneState),
  runs: (domain: string) => listOf(lists.runs(domain), runStates, 'status'),
  /** The list of the algorithms and datasets of a domain. */
  assets: (domain: string): RowList<keyof typeof assetStates> => ({
    ...listOf(lists.assets(domain), assetStates, 'asset_type'),
    has: (row) => row['asset_type'] !== resultType,
  }),
  /** The list of the assets of a domain that are results of runs under review. */
  results: (domain: string): RowList<'all'> => ({
    ...listOf(lists.assets(domain), oneState),
    name: lists.results(domain).pk,
    has: (row) => row['asset_type'] === resultType,
  }),
  linkedComputations: (assetId: string) => listOf(lists.linkedComputations(assetId), oneState),
  cvms: (domain: string) => listOf(lists.cvms(domain), oneState),
};

/** The lists of what waits for a user, beside that by status. */
export type TaskList = 'approvals' | 'keys' | 'refusals' | 'invitations' | 'content' | 'reviews' | 'updated';

const statusPart = 'status';

function nameOfWaiting(domain: string, user: string, part: TaskList | typeof statusPart): string {
  return `${lists.waiting(domain).pk}/${hashOfUser(user)}.${part}`;
}

/** Returns the text that stands for a user in names and keys: 72 bits of a hash, since user identifiers have any length. */
export function hashOfUser(user: string): string {
  return createHash('sha256').update(user).digest('base64url').slice(0, 12);
}

/**
 * Returns the states that members of the counted list with the given name can have, with their stored codes.
 * @throws Error if there is no such list
 */
function statesOfName(name: string): Readonly<Record<string, number>> {
  const states = statesOfKind.get(name.split('#', 1)[0] ?? '');
  if (!states) throw new Error(`There is no list ${name}.`);
  return name.startsWith(listNames.waiting) && name.endsWith(`.${statusPart}`) ? computationStates : states;
}

const statesOfKind = new Map<string, Readonly<Record<string, number>>>([
  ...Object.values(listNames).map((name) => [name, oneState] as const),
  [listNames.computations, computationStates],
  [listNames.ownedComputations, computationStates],
  [listNames.runs, runStates],
  [listNames.assets, assetStates],
]);

/**
 * Opens the counted list with the given name, to read its pages with exact totals or to sort its changes into its index (fold).
 * @throws Error if there is no such list
 */
export function listNamed(table: Table, name: string): CountedList {
  return openList(table, { name, states: statesOfName(name) });
}

/**
 * Opens a counted list, to read its pages or to sort its changes into its index (fold). Reports differences between the list and
 * its rows to the log and the metric `ListDrift`.
 */
export function openList(table: Table, { name, states }: Pick<RowList, 'name' | 'states'>): CountedList {
  return countedList({ table: listTable(table), name, states, onDrift: (numbers) => reportDrift(name, numbers) });
}

const reads = new SharedReads<unknown>();

/** Adapts the table to what the package for counted lists takes. */
export function listTable(table: Table): ListTable {
  return {
    name: table.name,
    document: table.document,
    deadline: () => deadlineOf(table),
    clock: clockOf(table),
    share: <T>(what: string, read: () => Promise<T>) => reads.share(table, what, read) as Promise<T>,
  };
}

function reportDrift(list: string, numbers: readonly number[]): void {
  log('ERROR', 'A list differs from its rows. See the runbook.', { list, members: numbers.slice(0, 10) });
  emitMetric('ListDrift', numbers.length);
}

/**
 * Adds the change of a list's member to a transaction. The transaction throws ServiceError `unavailable` if the list has too many
 * changes that are not folded.
 */
export function recordMember<Value extends string>(
  transaction: Transaction,
  list: RowList<Value>,
  change: Change & { before?: NoInfer<Value> | undefined; now?: NoInfer<Value> | undefined },
): void {
  const { update, beforehand, afterwards } = recordChange(list, change, {
    onBacklog: (unfolded) => emitMetric('ListBacklog', unfolded),
  });
  transaction.add({ update: { ...update, Key: writableKey(update.Key.pk, update.Key.sk) } });
  transaction.beforehand((table) => asServiceError(() => beforehand(listTable(table))));
  transaction.afterwards((table) => afterwards(listTable(table)));
}

function asServiceError(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof BacklogError)) throw error;
    throw new ServiceError('unavailable', 'The service is busy with earlier changes. Try again in a moment.', {}, error);
  }
}

/**
 * Returns the stored code of the state in which a row of a list is.
 * @throws TypeError if the row has no valid state: an internal error
 */
export function stateOfRow({ name, states, stateAttribute }: RowList, row: Item): number {
  const state = states[stateAttribute === undefined ? 'all' : String(row[stateAttribute])];
  if (state === undefined) throw new TypeError(`A row of the list ${name} has no state.`);
  return state;
}

/** Returns the number of a row in its list, taken from the sort key. */
export function numberOfRow(row: Item): number {
  return Number(String(row['sk']).slice(listKeys.prefixes.row.length));
}

/**
 * Returns a function that reads the numbers and states of a list's rows from the table, for checks and rebuilds of the list. For
 * the list of an owner it reads all rows of the domain.
 */
export function rowsOf(table: Table, list: RowList): ReadRows {
  const { rows, owner, has = (row: Item) => owner === undefined || row['owner'] === owner } = list;
  const last = listKeys.row(rows, afterAllNumbers);
  return async (from, limit) => {
    const found: Item[] = [];
    for (let next = from; found.length < limit;) {
      const read = await queryBetween(table, listKeys.row(rows, next), last, { limit });
      found.push(...read.filter(has));
      if (read.length < limit) break;
      next = numberOfRow(read.at(-1) ?? {}) + 1;
    }
    return found.slice(0, limit).map((row) => ({ number: numberOfRow(row), state: stateOfRow(list, row) }));
  };
}

/**
 * Reads the rows of a list with the given numbers, in the order of the numbers. Leaves out rows that do not exist.
 * @param numbers the newest first
 */
export async function readRows(table: Table, { rows }: RowList, numbers: readonly number[]): Promise<Item[]> {
  const [newest, oldest] = [numbers.at(0), numbers.at(-1)];
  if (newest === undefined || oldest === undefined) return [];
  if (newest - oldest < numbers.length * maxSpanPerRow) {
    const wanted = new Set(numbers);
    const found = await queryBetween(table, listKeys.row(rows, oldest), listKeys.row(rows, newest), { newestFirst: true });
    return found.filter((row) => wanted.has(numberOfRow(row)));
  }
  const found = await getItemsOf(table, numbers, (number) => listKeys.row(rows, number));
  return found.filter((row) => row !== undefined);
}

/** The span of numbers per wanted row below which one query over the whole span is cheaper than reading the rows one by one. */
const maxSpanPerRow = 4;
