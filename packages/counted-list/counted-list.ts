import { removeLeftovers, untilDue } from './clear.ts';
import { addDays, daysOf, decodeDays } from './days.ts';
import { type FoldedStep, foldStep } from './fold.ts';
import { keysOf, listOfEntry, logPrefix } from './keys.ts';
import {
  isDue,
  type LogUpdate,
  logUpdate,
  longestFoldInMilliseconds,
  lookAtLog,
  readMark,
  readMarks,
  refuseBeyondBacklog,
  dayOf,
  rest,
} from './log.ts';
import { type CheckedPage, checkList, rebuildList, type ReadRows } from './maintain.ts';
import { type State, stateCount, sumOf } from './node.ts';
import { changeOf, membersAt } from './select.ts';
import { deleteItemIf, has, inParallel, type ListTable, steadyTime, type TransactAction, writeTransaction } from './table.ts';
import { withMoment } from './view.ts';

export { HeldError, type ReadRows } from './maintain.ts';
export { afterAllNumbers } from './node.ts';
export { BacklogError, type LogUpdate } from './log.ts';
export type { Member } from './node.ts';
export { batched, type ListClock, type ListDeadline, type ListTable, openListTable } from './table.ts';
export { dayOf, listOfEntry, logPrefix };

export interface ListDefinition {
  /**
   * The name of the list, unique in its table. A name of the form `partition/part` shares the partitions of the table with all
   * lists with the same first part.
   */
  name: string;
  /** The states that members of the list can have, by name, with the codes that are stored: 1 to 7. A code never changes. */
  states: Readonly<Record<string, State>>;
}

/** A change of one member of a list. Without `before` the member is added, without `now` it is removed. */
export interface Change {
  /** The number of the member that changes: 1 to 2^48 - 1, issued to one member only. */
  number: number;
  /**
   * The version of the member, an integer from 1 that grows with each of its changes. A condition of the caller's transaction
   * must assert it.
   */
  version: number;
  /** The name of the member's state before the change. Undefined: the member is added. */
  before?: string | undefined;
  /** The name of the member's state after the change. Undefined: the member is removed. */
  now?: string | undefined;
  /**
   * The time of the change in milliseconds since the Unix epoch. The change is counted on its day in UTC. Undefined: the change
   * is counted on no day.
   */
  at?: number | undefined;
}

/** The version to give to the last change of a member, which removes it for good: greater than that of any other change. */
export const lastVersion = 2 ** 40;

export interface RecordOptions {
  /** The number of changes in the log of the list from which on the list refuses further ones. Default 20,000. */
  most?: number;
  /** Called with the number of changes that are not in the tree of the list yet, if there are many. */
  onBacklog?: (unfolded: number) => void;
}

/** The parts of a transaction that changes a list, for a caller that makes the transaction. */
export interface RecordedChange {
  /** The action that the transaction must contain: an update of one item, without its `TableName`. */
  update: LogUpdate;
  /**
   * Refuses the change if needed. The caller calls it before the transaction is sent.
   * @throws BacklogError if too many changes of the list are not folded: then the transaction must not be sent
   */
  beforehand: (table: ListTable) => void;
  /** Looks whether the list needs a fold. The caller calls it when the transaction was committed. Never throws. */
  afterwards: (table: ListTable) => Promise<void>;
}

/** Returns the parts that a transaction of the caller's own making needs to change a list. */
export function recordChange(
  list: ListDefinition,
  { number, version, before, now, at }: Change,
  { most = 20_000, onBacklog }: RecordOptions = {},
): RecordedChange {
  const keys = keysOf(list.name);
  const day = at === undefined ? 0 : dayOf(at);
  const step = { version, before: codeOf(list, before), now: codeOf(list, now), day };
  return {
    update: logUpdate(keys, number, step),
    beforehand: (table) => refuseBeyondBacklog(table, keys),
    // The change is made by then: what fails here is no failure of it.
    afterwards: (table) => lookAtLog(table, keys, { number, version }, { most, onBacklog }).catch(() => undefined),
  };
}

/**
 * Writes items and changes of lists in one transaction. Each change takes one of the 100 actions of a transaction.
 * @param items further actions with their `TableName`, such as the `Put` of a row with a condition on its version
 * @throws BacklogError if too many changes of a list are not folded; errors of the SDK, such as TransactionCanceledException
 */
export async function writeWithLists(
  table: ListTable,
  items: readonly TransactAction[],
  changes: readonly (Change & { list: ListDefinition })[],
  options?: RecordOptions,
): Promise<void> {
  const recorded = changes.map(({ list, ...change }) => recordChange(list, change, options));
  for (const { beforehand } of recorded) beforehand(table);
  await writeTransaction(table, [...items, ...recorded.map(({ update }) => ({ Update: { TableName: table.name, ...update } }))]);
  for (const { afterwards } of recorded) await afterwards(table);
}

function codeOf({ name, states }: ListDefinition, value: string | undefined): State {
  if (value === undefined) return 0;
  const code = states[value];
  if (code === undefined) throw new TypeError(`The list ${name} has no state ${value}.`);
  return code;
}

export interface ListOptions extends ListDefinition {
  table: ListTable;
  /** Called with the numbers of members that were not in the state that a change says they had before. */
  onDrift?: (numbers: readonly number[]) => void;
}

export interface PageRequest {
  limit: number;
  offset: number;
  state?: string | undefined;
}

export interface FoldRequest {
  /** The fewest changes in the log that are moved into the tree. Default: as many as make a fold worth its cost. */
  least?: number;
  /**
   * The milliseconds for which to go on folding, and to wait until items that earlier folds replaced may be deleted. Default: one
   * step only.
   */
  forMilliseconds?: number;
}

export interface CountedList {
  /**
   * Returns the numbers of the members on a page, the greatest first, and the exact total of all members that match, both at the
   * same moment.
   */
  page: (request: PageRequest) => Promise<{ numbers: number[]; total: number }>;
  /**
   * Returns the numbers of changes on each day from `first` to `last`, oldest first, without days that have none. Days are
   * counted from 1970-01-01 in UTC. `counts` has the number of changes into a state at the index of the state's code.
   */
  days: (first: number, last: number) => Promise<{ day: number; counts: readonly number[] }[]>;
  /**
   * Moves changes from the log into the tree of the list, and deletes what earlier folds replaced. May be called at any time,
   * also by several processes at once.
   */
  fold: (request?: FoldRequest) => Promise<FoldedStep>;
  /**
   * Notes changes that the caller knows of, and returns whether a fold may be worth its cost: not if this process has looked at the list in the
   * last 30 seconds, and fewer changes came since than were missing then.
   */
  isDue: (changes: number) => boolean;
  check: (rows: ReadRows, from?: number) => AsyncGenerator<CheckedPage, void>;
  /** Builds the tree of the list anew from the rows that it counts. @throws HeldError if another rebuild is at work */
  rebuild: (rows: ReadRows, onRows?: (rows: number) => void) => Promise<void>;
  /** Returns whether the list is marked: a fold may be at work, or changes are still to be folded. */
  isMarked: () => Promise<boolean>;
  partitions: readonly string[];
}

const allStates: ReadonlySet<State> = new Set(Array.from({ length: stateCount - 1 }, (_, index) => index + 1));
export function countedList(options: ListOptions): CountedList {
  const { table, name, onDrift } = options;
  const keys = keysOf(name);
  return {
    page: ({ limit, offset, state }) =>
      withMoment(
        { table, keys, withRoot: !isFirstPage({ limit, offset }) },
        async ({ head, differences, newest: near, view }) => {
          const wanted = state === undefined ? allStates : new Set([codeOf(options, state)]);
          const total = sumOf(head.totals, wanted) + changeOf(differences, wanted);
          const count = sumOf(near.counts, wanted) + changeOf(near.differences, wanted);
          const isNear = count >= Math.min(offset + limit, total);
          const slice = { skip: offset, take: Math.max(0, Math.min(limit, total - offset)) };
          return { numbers: await membersAt(isNear ? near : await view(), wanted, slice), total };
        },
      ),
    days: (first, last) =>
      withMoment({ table, keys, withRoot: true }, async ({ head, unfolded, view }) => {
        const days = addDays(decodeDays((await view()).days), [...head.days, ...daysOf(unfolded)]);
        const within = [...days].filter(([day]) => day >= first && day <= last);
        return within.sort(([a], [b]) => a - b).map(([day, counts]) => ({ day, counts }));
      }),
    fold: async ({ least, forMilliseconds = 0 } = {}) => {
      const end = steadyTime(table) + forMilliseconds;
      for (;;) {
        const step = await foldStep(table, keys, least);
        if (step.unexpected.length > 0) onDrift?.(step.unexpected);
        if (least === undefined) rest(table, keys, step.pending > 0 || step.unfolded === 0 ? 0 : step.missing);
        const isPart = step.folded > 0 && step.folded < step.unfolded;
        const pause = isPart ? 0 : Math.min(longestPauseInMilliseconds, untilDue(table, keys) + 1);
        const isOver = !isPart && step.pending === 0;
        if (isOver || steadyTime(table) + pause >= end) return step;
        await table.clock.wait(pause);
      }
    },
    isDue: (changes) => isDue(table, keys, changes),
    check: (rows, from) => checkList(table, keys, rows, from),
    rebuild: (rows, onRows) => rebuildList(table, keys, rows, onRows),
    isMarked: async () => (await readMark(table, keys)) !== undefined,
    partitions: keys.partitions,
  };
}

export const isFirstPage = ({ limit, offset }: PageRequest): boolean => offset === 0 || offset + limit <= 50;

const longestPauseInMilliseconds = 1_000;

const patience = {
  /** The milliseconds after the last fold of a list from which on even a single change is folded. */
  inMilliseconds: 10 * 60_000,
  /**
   * The milliseconds after a fold during which the follower of the table's stream is still at work on the list, so the schedule
   * leaves it alone.
   */
  ofSweep: 45_000,
  least: 64,
};
const listsAtOnce = 10;

/**
 * Folds the changes that are left of each marked list, and removes the marks of lists that have none left. To be called on a
 * schedule.
 * @returns for each list that was folded, the number of changes that it had left, or why folding it failed
 */
export async function sweepLists(
  table: ListTable,
  open: (name: string) => CountedList,
  forMilliseconds: number,
): Promise<{ name: string; unfolded: number; failure?: unknown }[]> {
  const marks = await readMarks(table);
  const swept: { name: string; unfolded: number; failure?: unknown }[] = [];
  await inParallel(marks, listsAtOnce, async ({ sk: name, marked_at }) => {
    try {
      const age = Math.abs(table.clock.now() - marked_at);
      if (age < patience.ofSweep) return;
      const least = age < patience.inMilliseconds ? patience.least : 1;
      const { unfolded, folded, pending } = await open(name).fold({ least, forMilliseconds });
      swept.push({ name, unfolded });
      if (unfolded > folded || pending > 0 || age <= longestFoldInMilliseconds) return;
      if (!(await removeLeftovers(table, keysOf(name)))) return;
      await deleteItemIf(table, keysOf(name).mark, has('marked_at', marked_at)); // unless it has been marked again since
    } catch (failure) {
      swept.push({ name, unfolded: 0, failure });
    }
  });
  return swept;
}
