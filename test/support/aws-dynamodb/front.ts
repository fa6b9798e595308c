import type { Clock } from './clock.ts';
import type { Engine } from './engine.ts';
import type { ItemLocks } from './item-locks.ts';
import type { KeySchemas } from './key-schemas.ts';
import type { Rehearsal } from './rehearsal.ts';
import type { Change, Reveals } from './reveals.ts';
import type { TransactionTokens } from './transaction-tokens.ts';
import type { UnitMeter } from './unit-meter.ts';

/** The result of a transaction for each action. */
export interface WrittenTransaction {
  changes: Change[];
  writeUnits: number[];
}

/** The dependencies that the operations of one front share. */
export interface Front {
  engine: Engine;
  clock: Clock;
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
