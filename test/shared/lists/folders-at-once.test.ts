import { afterAll, beforeAll, expect, it } from 'vitest';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { indexedLists, memberChange } from '../../../shared/lists/indexed-list.ts';
import { logChange } from '../../../shared/lists/log.ts';
import { readPage } from '../../../shared/lists/read-page.ts';
import type { Table } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { type ProxiedTable, startProxiedTable, tableThrough } from '../../support/embedded-table.ts';

let proxied: ProxiedTable;
let table: Table;
let time = Date.parse('2026-01-01T00:00:00Z');
beforeAll(async () => {
  proxied = await startProxiedTable({ latencyInMilliseconds: 1 });
  table = { ...proxied.table, clock: { now: () => time, wait: () => Promise.resolve() } };
});
afterAll(() => proxied.stop());

const { index, ...list } = indexedLists.assets('d1');

async function create(from: number, to: number): Promise<void> {
  const changes = Array.from({ length: to - from + 1 }, (_, at) =>
    logChange(index, from + at, { version: 1, changes: [memberChange({ index, ...list }, from + at, { now: 'dataset' })] }),
  );
  await transact(proxied.direct, changes);
}

/** @returns what was written, by operation */
async function foldAtOnce(callers: number): Promise<Record<string, number>> {
  proxied.proxy.reset();
  await Promise.all(Array.from({ length: callers }, () => foldChanges(table, index)));
  const writes = proxied.proxy.calls.map(({ operation }) => operation).filter((name) => /Put|Update|Delete|Write/.test(name));
  return Object.fromEntries([...Map.groupBy(writes, (name) => name)].map(([name, calls]) => [name, calls.length]));
}

it('only one of eight concurrent callers folds a long log and deletes its entries', async () => {
  await create(1, 40);
  // Each of the eight asks for the lease. One writes the head, marks it as seen, and releases the lease.
  expect(await foldAtOnce(8)).toEqual({ PutItem: 8 + 3 });
  time += 5_000;
  const cleared = await foldAtOnce(8);
  expect(cleared).toMatchObject({ PutItem: 8 + 2, DeleteItem: 40 });
  expect((await readPage(table, { index, ...list }, { limit: 1, offset: 0 })).total).toBe(40);
});

it('a log that is long again is folded one second after the fold before began, if that has ended', async () => {
  time += 10_000;
  await foldAtOnce(1);
  await create(41, 80);
  time += 999;
  expect(await foldAtOnce(1)).toEqual({ PutItem: 1 });
  time += 1;
  expect(await foldAtOnce(1)).toMatchObject({ PutItem: 4 });
  expect((await readPage(table, { index, ...list }, { limit: 1, offset: 0 })).total).toBe(80);
});

it('a log whose fold died is folded three seconds after that fold began', async () => {
  time += 1_000;
  await create(81, 120);
  const dying = tableThrough(table, (send, { input }) =>
    input.Item?.['sk'] === 'head' ? Promise.reject(new Error('died')) : send(),
  );
  await expect(foldChanges(dying, index)).rejects.toThrow('died');
  time += 2_999;
  expect(await foldAtOnce(1)).toEqual({ PutItem: 1 });
  time += 1;
  expect(await foldAtOnce(1)).toMatchObject({ PutItem: 4 });
  expect((await readPage(table, { index, ...list }, { limit: 1, offset: 0 })).total).toBe(120);
});
