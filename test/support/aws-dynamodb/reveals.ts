import type { Clock } from './clock.ts';
import type { Engine } from './engine.ts';
import type { ItemRef } from './key-schemas.ts';
import type { WireItem } from './wire.ts';

/** An item before and after a transaction whose outcome is decided. Undefined: the item does not exist. */
export interface Change {
  ref: ItemRef;
  before: WireItem | undefined;
  after: WireItem | undefined;
}

/** Makes decided transactions visible, item by item. */
export interface Reveals {
  /** Writes each change at a random time within the duration. Resolves when the time is over and all is written. */
  reveal: (changes: Change[], milliseconds: number) => Promise<void>;
  /** Resolves when all due changes are written, so that a read that starts now sees them. */
  untilSettled: () => Promise<void>;
  /** Whether a partly written transaction has a change on this partition key. */
  isPartlyVisible: (partitionKey: string) => boolean;
}

interface Transaction {
  partitionKeys: Set<string>;
  total: number;
  written: number;
}

export function createReveals(engine: Engine, clock: Clock, random: () => number): Reveals {
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
