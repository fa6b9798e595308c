import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { ContentStore } from '../../shared/rows/content-store.ts';
import { purgeAll } from '../../shared/deletion/purge-all.ts';
import { foldMarkedLists } from '../../shared/table/fold-lists.ts';
import type { Table } from '../../shared/table/table.ts';
import { amount, sampleSeed } from './amounts.ts';
import type { Stores } from './builders-store.ts';
import type { Fault } from './dynamodb-proxy.ts';
import { scan } from './inconsistencies.ts';

/** Returns the keys of the items that contain one of these identifiers. */
export async function itemsNaming(table: Table, ids: string[]): Promise<string[]> {
  const items = await scan(table);
  return items
    .filter((item) => ids.some((id) => JSON.stringify(item).includes(id)))
    .map((item) => `${String(item['pk'])} ${String(item['sk'])}`);
}

/** Returns the keys of all objects in storage. */
export async function contentKeys({ client, bucket }: ContentStore): Promise<string[]> {
  const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
  return (Contents ?? []).map(({ Key }) => String(Key));
}

/** Purges and folds as the schedules do, a minute apart, until nothing waits. */
export async function purgeUntilOver({ table, content }: Pick<Stores, 'table' | 'content'>): Promise<void> {
  let time = Date.now();
  const clock = { now: () => time, wait: async (milliseconds: number) => void (time += milliseconds) };
  const later = { ...table, clock };
  while ((await purgeAll(later, content)).waiting > 0) {
    time += 61_000;
    await foldMarkedLists(later);
  }
}

/** Does `act` on a table that fails after this many calls. */
export async function cutOffAfter(calls: number, { proxy }: Stores, act: () => Promise<unknown>): Promise<void> {
  proxy.inject({ kind: 'dropped', share: 1, after: calls });
  try {
    await act();
  } finally {
    proxy.inject(undefined);
  }
}

/** `npm test` tries every twentieth call. The seed says where it begins. */
const sampleStride = amount({ sample: 30, full: 1 });

/**
 * Repeats `work` on a table that fails from the first call on, then from the second call on, and so on until `work` succeeds.
 * Calls `check` after each attempt. Tries both cases: the last call before the failure takes effect, or it does not.
 * @param stride 1 to try each call; without it, `npm test` tries a sample
 * @returns the number of calls that `work` could die at, in both cases together
 */
export async function dieAtEveryCall<T>(
  { proxy }: Stores,
  prepare: () => Promise<T>,
  work: (prepared: T) => Promise<unknown>,
  check: (prepared: T, death: string) => Promise<void>,
  stride = sampleStride,
): Promise<number> {
  let calls = 0;
  for (const kind of ['dropped', 'lost-answer'] as const satisfies Fault['kind'][]) {
    for (let after = sampleSeed % stride; ; after += stride) {
      const prepared = await prepare();
      const callsBefore = proxy.calls.length;
      proxy.inject({ kind, share: 1, after });
      const died = await work(prepared).then(
        () => false,
        () => true,
      );
      const met = proxy.faults();
      const callsMade = proxy.calls.length - callsBefore;
      proxy.inject(undefined);
      await check(prepared, `${kind} after ${after} calls (TEST_SEED=${sampleSeed})`);
      if (!died && met === 0) {
        calls += callsMade;
        break;
      }
    }
  }
  return calls;
}
