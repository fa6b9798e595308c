import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseContentReads, recordContentRead } from '../../../shared/assets/describe-asset.ts';
import { readAsset } from '../../../shared/rows/asset.ts';
import { deleteAsset } from '../../../shared/assets/delete-asset.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { assetKeys } from '../../../shared/table/keys.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { clockOfTests } from '../../support/append-to-journal.ts';
import { startAwsDynamoDb, type AwsDynamoDb } from '../../support/aws-dynamodb/aws-dynamodb.ts';
import { dieAtEveryCall, itemsNaming } from '../../support/builders-purge.ts';
import { anAsset, byAlice, startStores, type Stores } from '../../support/builders-store.ts';
import { documentAt, patientDeadline } from '../../support/embedded-table.ts';
import { getItem } from '../../../shared/table/table.ts';

let stores: Stores;
let front: AwsDynamoDb;
beforeAll(async () => {
  stores = await startStores();
  front = await startAwsDynamoDb(stores.endpoints.dynamoDb);
});
afterAll(async () => {
  await front.stop();
  await stores.stop();
});

const domain = 'd1';
const later = (seconds: number) => new Date(Date.parse(clockOfTests) + seconds * 1_000).toISOString();
const record = (assetId: string, user: string, seconds = 0, table = stores.table) =>
  recordContentRead(table, { domain, assetId, user, now: later(seconds) });
/** Returns the table behind another endpoint, with a client that retries as in the service. */
function tableAt(endpoint: string) {
  const document = documentAt(endpoint);
  return { table: { name: stores.table.name, document, deadline: patientDeadline }, close: () => document.destroy() };
}

const readsOf = async (assetId: string) => parseContentReads(await getItem(stores.table, assetKeys.contentReads(assetId)));

/** Stores reads of an asset's content as the service would have recorded them, one a second. */
async function putReads(id: string, count: number): Promise<void> {
  const reads = Array.from({ length: count }, (_, index) => [`${Date.parse(later(index))}-aaaaaa`, 'bob']);
  await putItem(stores.table, { ...assetKeys.contentReads(id), latest_reads: Object.fromEntries(reads) as unknown });
}

describe('recordContentRead', () => {
  it('records who reads and when, and lists the newest first', async () => {
    const id = await anAsset(stores, domain);
    expect(await readsOf(id)).toEqual([]);
    await record(id, 'bob', 1);
    await record(id, 'carol', 3);
    await record(id, 'bob', 2);
    expect(await readsOf(id)).toEqual([
      { user: 'carol', read_at: later(3) },
      { user: 'bob', read_at: later(2) },
      { user: 'bob', read_at: later(1) },
    ]);
  });

  it('records every one of 20 first reads at the same time, also two of one user in one millisecond', async () => {
    const id = await anAsset(stores, domain);
    const users = Array.from({ length: 20 }, (_, index) => `user-${Math.floor(index / 2)}`);
    await Promise.all(users.map((user) => record(id, user)));
    expect((await readsOf(id)).map(({ user }) => user).sort()).toEqual(users.sort());
  });

  it('records every read even while transactions hold the item', async () => {
    const id = await anAsset(stores, domain);
    const isolated = tableAt(front.endpoint);
    const users = Array.from({ length: 8 }, (_, index) => `user-${index}`);
    await Promise.all(users.map((user) => record(id, user, 0, isolated.table)));
    isolated.close();
    expect((await readsOf(id)).map(({ user }) => user).sort()).toEqual(users);
    expect(front.figures.conflicts).toBeGreaterThan(0);
  });

  it('lists the latest 100 reads, and stores at most 120', async () => {
    const id = await anAsset(stores, domain);
    for (let count = 1; count <= 123; count++) await record(id, `user-${count}`, count);
    const reads = await readsOf(id);
    expect(reads).toHaveLength(100);
    expect([reads[0]?.user, reads[99]?.user]).toEqual(['user-123', 'user-24']);
    const item = await getItem(stores.table, assetKeys.contentReads(id));
    expect(Object.keys(item?.['latest_reads'] as object)).toHaveLength(102);
  });

  it('removes all that is over 100 after removals that failed', async () => {
    const id = await anAsset(stores, domain);
    await putReads(id, 150);
    await record(id, 'carol', 200);
    const item = await getItem(stores.table, assetKeys.contentReads(id));
    expect(Object.keys(item?.['latest_reads'] as object)).toHaveLength(100);
    expect((await readsOf(id))[0]).toEqual({ user: 'carol', read_at: later(200) });
  });

  it('costs one write unit while the asset has few reads', async () => {
    const id = await anAsset(stores, domain);
    await record(id, 'bob');
    stores.proxy.reset();
    await record(id, 'bob', 1, stores.mortal);
    expect([stores.proxy.writeUnits(), stores.proxy.calls.length]).toEqual([1, 1]);
  });

  it('leaves the asset’s row as it is', async () => {
    const id = await anAsset(stores, domain);
    const before = await readAsset(stores.table, domain, id);
    await record(id, 'bob');
    expect(await readAsset(stores.table, domain, id)).toEqual(before);
  });

  it.each([0, 1, 120])(
    'leaves nothing behind when the asset is deleted and purged before any of its calls, after %i reads',
    async (count) => {
      const remove = async (id: string) => {
        await deleteAsset(stores.table, { domain, id, ...byAlice });
        await purgeAll(stores.table, stores.content);
      };
      for (let before = 1; before <= 2; before++) {
        const id = await anAsset(stores, domain);
        if (count > 0) await putReads(id, count);
        const interrupted = tableAt(stores.endpoints.dynamoDb);
        let calls = 0;
        const interrupt = async () => {
          if (++calls === before) await remove(id);
        };
        interrupted.table.document.middlewareStack.add(
          (next) => async (sent) => {
            await interrupt();
            return await next(sent);
          },
          { step: 'initialize' },
        );
        const outcome = await record(id, 'carol', 200, interrupted.table).catch((error: unknown) => error);
        interrupted.close();
        if (calls < before) await remove(id);
        else if (before === 1 || count === 0) expect(outcome).toMatchObject({ code: 'not_found' });
        expect([before, ...(await itemsNaming(stores.table, [id]))]).toEqual([before]);
      }
    },
  );

  it('leaves nothing behind after a purge, at whichever call the reader died', async () => {
    const deaths = await dieAtEveryCall(
      stores,
      () => anAsset(stores, domain),
      (id) => record(id, 'bob', 0, stores.mortal),
      async (id, death) => {
        expect([death, (await readsOf(id)).length <= 1]).toEqual([death, true]);
        await deleteAsset(stores.table, { domain, id, ...byAlice });
        await purgeAll(stores.table, stores.content);
        expect([death, ...(await itemsNaming(stores.table, [id]))]).toEqual([death]);
      },
    );
    expect(deaths).toBeGreaterThanOrEqual(4);
  });

  it('records a read once when the SDK sends it again after a lost response', async () => {
    const id = await anAsset(stores, domain);
    await record(id, 'bob');
    const retrying = tableAt(stores.endpoints.dynamoDb);
    stores.proxy.reset();
    stores.proxy.inject({ kind: 'lost-answer', share: 1, times: 1 });
    await record(id, 'carol', 1, retrying.table);
    stores.proxy.inject(undefined);
    retrying.close();
    expect((await readsOf(id)).map(({ user }) => user)).toEqual(['carol', 'bob']);
  });
});
