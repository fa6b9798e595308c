import { setTimeout as delay } from 'node:timers/promises';
import { type CountedList, countedList, recordChange, type RecordOptions } from 'computation-management-counted-list';
import type { Key } from '../../../shared/table/keys.ts';
import { listTable } from '../../../shared/table/row-lists.ts';
import { type Table, queryPartition } from '../../../shared/table/table.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { tableThrough } from '../../support/embedded-table.ts';

const states = { a: 1, b: 2, c: 3, d: 4 };
export const values = Object.keys(states);

/** A list without rows, and what a plain map says of it. */
export class PlainList {
  readonly name: string;
  readonly members = new Map<number, { state: string | undefined; version: number }>();
  private readonly table: Table;
  private readonly options: RecordOptions;

  constructor(table: Table, name: string, options: RecordOptions = {}) {
    [this.table, this.name, this.options] = [table, name, options];
  }

  /** The list as a process with its own table client opens it. */
  open(table = this.table): CountedList {
    return countedList({ table: { ...listTable(table), share: undefined }, name: this.name, states });
  }

  /** Makes a list of members in one state, as it is once all changes are folded and cleared: one by one, they take a call each. */
  async fill(numbers: readonly number[], state: string): Promise<void> {
    for (const number of numbers) this.members.set(number, { state, version: 1 });
    await this.open().rebuild(this.rows);
  }

  /** Sets states in one transaction. Those that stay the same are left out. */
  async set(changes: readonly (readonly [number: number, state: string | undefined])[], at?: number): Promise<void> {
    const transaction = new Transaction();
    const changed = new Map<number, { state: string | undefined; version: number }>();
    for (const [number, now] of new Map(changes)) {
      const { state: before, version = 0 } = this.members.get(number) ?? {};
      if (before === now) continue;
      this.record(transaction, { number, version: version + 1, before, now, at });
      changed.set(number, { state: now, version: version + 1 });
    }
    if (!transaction.isEmpty) await transaction.commit(this.table);
    for (const [number, member] of changed) this.members.set(number, member);
  }

  record(transaction: Transaction, change: Parameters<typeof recordChange>[1]): void {
    const { update, beforehand, afterwards } = recordChange({ name: this.name, states }, change, this.options);
    transaction.add({ update: { ...update, Key: update.Key as Key } });
    transaction.beforehand((table) => beforehand(listTable(table)));
    transaction.afterwards((table) => afterwards(listTable(table)));
  }

  page({ limit, offset, state }: { limit: number; offset: number; state?: string | undefined }) {
    const numbers = [...this.members]
      .filter(([, member]) => member.state !== undefined && (state === undefined || member.state === state))
      .map(([number]) => number)
      .sort((a, b) => b - a);
    return { numbers: numbers.slice(offset, offset + limit), total: numbers.length };
  }

  /** The members as rows of the list. */
  readonly rows = async (from: number, limit: number) =>
    [...this.members]
      .flatMap(([number, { state }]) => (state !== undefined && number >= from ? [{ number, state: states[state as 'a'] }] : []))
      .sort((a, b) => a.number - b.number)
      .slice(0, limit);

  /** Returns all items of the list, without their partitions. */
  async stored(): Promise<{ log: string[]; index: string[]; nodes: string[] }> {
    const keys = async (prefix: string) => {
      const partitions = this.open().partitions.filter((each) => each.startsWith(prefix));
      const items = await Promise.all(partitions.map((partition) => queryPartition(this.table, partition)));
      return items.flat().map(({ sk }) => String(sk));
    };
    const [log, index, nodes] = await Promise.all([keys('log#'), keys('index#'), keys('nodes#')]);
    return { log, index, nodes };
  }

  /** Compares the list with the map, its counts with each other. */
  async differences(): Promise<string[]> {
    const found: string[] = [];
    for await (const page of this.open().check(this.rows)) found.push(...page.differences);
    return found;
  }
}

/** Folds until nothing is left to fold or to delete. @param pass lets time pass */
export async function settle(list: CountedList, pass: (milliseconds: number) => void): Promise<void> {
  for (let round = 0; round < 12; round++) {
    const { unfolded, folded, pending } = await list.fold({ least: 1 });
    if (unfolded === folded && pending === 0) return;
    pass(3_000);
  }
  throw new Error('The list does not settle.');
}

/** Throws before or after one of the calls through it, as if its process had died. */
export function dyingTable(table: Table, after: number, random: () => number): Table {
  let calls = 0;
  return tableThrough(table, async (send) => {
    calls += 1;
    if (calls > after) throw new Error('died');
    const answer = await send();
    if (calls === after && random() < 0.5) throw new Error('died');
    return answer;
  });
}

/** Waits before each call, so that folds come between the calls of a read. */
export function slowTable(table: Table, random: () => number): Table {
  return tableThrough(table, async (send) => {
    await delay(random() ** 3 * 400);
    return send();
  });
}
