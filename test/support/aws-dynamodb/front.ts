import type { Change, Engine, KeySchemas, Rehearsal } from './engine.ts';
import type { UnitMeter } from './limits.ts';
import { inProgressError, parameterMismatchError } from './wire.ts';
import type { TimerClock } from '../../../shared/runtime/deadline.ts';

/** The result of a transaction for each action. */
export interface WrittenTransaction {
  changes: Change[];
  writeUnits: number[];
}

/** The dependencies that the operations of one front share. */
export interface Front {
  engine: Engine;
  clock: TimerClock;
  random: () => number;
  keySchemas: KeySchemas;
  locks: ItemLocks;
  meter: UnitMeter;
  tokens: TransactionTokens<WrittenTransaction>;
  rehearsal: Rehearsal;
  reveals: Reveals;
  durations: Durations;
  figures: Figures;
}

/** Durations in milliseconds. */
export interface Durations {
  transaction: number;
  singleWrite: number;
  betweenReads: number;
}

/** Counts of events since the start. */
export interface Figures {
  /** Transactions that have written. */
  transactions: number;
  /** Writes and read transactions that were refused because another transaction held an item. */
  conflicts: number;
  /** The items of these, as their keys: each is the one that another transaction held. */
  conflictingItems: string[];
  /** Plain reads in partitions where a transaction was partly visible. */
  readsOfPartlyVisible: number;
}

/**
 * The operations in progress on each item. A transaction that writes holds its items: any other write of them, and any
 * transaction that reads them, is refused. All other operations enter and leave an item. A transaction that has taken hold of
 * the item waits until the operations that entered before have left.
 */
export interface ItemLocks {
  isHeld: (id: string) => boolean;
  isWritten: (id: string) => boolean;
  hold: (ids: string[]) => () => void;
  /** Registers a single write, or a transaction that reads, until the returned function is called. */
  enter: (ids: string[], does: 'read' | 'write') => () => void;
  /** Resolves when all operations that entered before have left. */
  untilFree: (ids: string[]) => Promise<void>;
}

interface Visit {
  ids: string[];
  does: 'read' | 'write';
  over: Promise<void>;
}

export function createItemLocks(): ItemLocks {
  const held = new Set<string>();
  const visits = new Set<Visit>();
  const visitsOf = (ids: string[]) => [...visits].filter((visit) => visit.ids.some((id) => ids.includes(id)));
  return {
    isHeld: (id) => held.has(id),
    isWritten: (id) => held.has(id) || visitsOf([id]).some(({ does }) => does === 'write'),
    hold: (ids) => {
      for (const id of ids) held.add(id);
      return () => {
        for (const id of ids) held.delete(id);
      };
    },
    enter: (ids, does) => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const visit: Visit = { ids, does, over: promise };
      visits.add(visit);
      return () => {
        visits.delete(visit);
        resolve(undefined);
      };
    },
    untilFree: async (ids) => {
      await Promise.all(visitsOf(ids).map(({ over }) => over));
    },
  };
}

const validForMilliseconds = 10 * 60 * 1000;

interface Known<Result> {
  parameters: string;
  /** Undefined while the transaction is in flight. */
  ended?: { at: number; result: Result };
}

/** The result of `once`: new, or of an earlier call with the token. */
export interface Outcome<Result> {
  result: Result;
  isRepeat: boolean;
}

/**
 * The client request tokens of transactions. A token is known while its transaction is in flight, and for ten minutes after the
 * transaction was written. A cancelled transaction frees its token.
 */
export interface TransactionTokens<Result> {
  once: (token: string | undefined, parameters: string, run: () => Promise<Result>) => Promise<Outcome<Result>>;
}

export function createTransactionTokens<Result>(clock: TimerClock): TransactionTokens<Result> {
  const tokens = new Map<string, Known<Result>>();
  const lookUp = (token: string) => {
    const known = tokens.get(token);
    if (known?.ended && clock.now() - known.ended.at > validForMilliseconds) tokens.delete(token);
    return tokens.get(token);
  };
  return {
    once: async (token, parameters, run) => {
      if (token === undefined) return { result: await run(), isRepeat: false };
      const known = lookUp(token);
      if (known && known.parameters !== parameters) throw parameterMismatchError();
      if (known) {
        if (!known.ended) throw inProgressError();
        return { result: known.ended.result, isRepeat: true };
      }
      const started: Known<Result> = { parameters };
      tokens.set(token, started);
      try {
        const result = await run();
        started.ended = { at: clock.now(), result };
        return { result, isRepeat: false };
      } catch (error) {
        tokens.delete(token);
        throw error;
      }
    },
  };
}

/** Makes decided transactions visible, item by item. */
export interface Reveals {
  /** Writes each change at a random time within the duration. Resolves when the time is over and all is written. */
  reveal: (changes: Change[], milliseconds: number) => Promise<void>;
  /** Resolves when all due changes are written, so that a read that starts now sees them. */
  untilSettled: () => Promise<void>;
  /** Says whether a partly written transaction has a change on this partition key. */
  isPartlyVisible: (partitionKey: string) => boolean;
}

interface Transaction {
  partitionKeys: Set<string>;
  total: number;
  written: number;
}

export function createReveals(engine: Engine, clock: TimerClock, random: () => number): Reveals {
  const transactions = new Set<Transaction>();
  const due = new Set<Promise<unknown>>();

  const write = async (transaction: Transaction, { ref, after }: Change) => {
    if (after) await engine.call('PutItem', { TableName: ref.tableName, Item: after });
    else await engine.call('DeleteItem', { TableName: ref.tableName, Key: ref.key });
    transaction.written++;
  };
  const atItsMoment = (transaction: Transaction, change: Change, milliseconds: number) =>
    new Promise<void>((resolve, reject) => {
      clock.setTimer(random() * milliseconds, () => {
        const writing = write(transaction, change).then(resolve, reject);
        due.add(writing);
        void writing.finally(() => due.delete(writing));
      });
    });

  return {
    reveal: async (changes, milliseconds) => {
      const transaction: Transaction = {
        partitionKeys: new Set(changes.map(({ ref }) => ref.partitionKey)),
        total: changes.length,
        written: 0,
      };
      transactions.add(transaction);
      try {
        await Promise.all([...changes.map((change) => atItsMoment(transaction, change, milliseconds)), clock.wait(milliseconds)]);
      } finally {
        transactions.delete(transaction);
      }
    },
    untilSettled: async () => {
      await Promise.all(due);
    },
    isPartlyVisible: (partitionKey) =>
      [...transactions].some(
        ({ partitionKeys, total, written }) => written > 0 && written < total && partitionKeys.has(partitionKey),
      ),
  };
}
