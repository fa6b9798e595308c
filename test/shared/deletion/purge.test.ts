import { keysOf } from 'computation-management-counted-list/keys';
import { describe, expect, it } from 'vitest';
import { recordContentRead } from '../../../shared/assets/describe-asset.ts';
import { deleteAsset } from '../../../shared/assets/delete-asset.ts';
import { deleteComputation } from '../../../shared/computations/delete-computation.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { purgeListings } from '../../../shared/deletion/purge.ts';
import { readEvents } from '../../../shared/events/read-events.ts';
import { linkAsset, unlinkAsset } from '../../../shared/assets/link-asset.ts';
import { runKeys, writableKey } from '../../../shared/table/keys.ts';
import { openList, rowLists } from '../../../shared/table/row-lists.ts';
import { putItems } from '../../../shared/table/writes.ts';
import { contentKeys, cutOffAfter, dieAtEveryCall, itemsNaming, purgeUntilOver } from '../../support/builders-purge.ts';
import {
  aComputation,
  aKey,
  allowed,
  anAsset,
  aReadyComputation,
  aRun,
  byAlice,
  endRunWith,
  startStores,
} from '../../support/builders-store.ts';
import { inconsistencies, scan } from '../../support/inconsistencies.ts';
import { beforePutOf } from '../../support/interleave.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { queryPrefix } from '../../../shared/table/table.ts';
import { readDefinition } from '../../../shared/rows/definition.ts';
import { readComputation } from '../../../shared/rows/computation.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';
const isGone = (error: unknown) => expect(error).toMatchObject({ code: 'not_found' });
/**
 * The number of calls after which an attempt to purge is cut off. It is lower than the calls for 120 large snapshots, each of
 * which takes one.
 */
const callsOfAnAttempt = 40;
let computations = 0;

/**
 * Creates a computation with a life behind it: links, keys of two users, two runs, and an asset unlinked while one of them was
 * active.
 */
async function aLivedComputation() {
  const { table } = stores;
  const { id, algorithm } = await aReadyComputation(stores, domain);
  const dataset = await anAsset(stores, domain, { file_name: 'iris.csv', asset_type: 'dataset' });
  await linkAsset(table, { domain, assetId: dataset, computationId: id, ...byAlice });
  await aKey(table, domain, id, 'bob');
  const cvm = `cvm-${++computations}`;
  const first = await aRun(stores, domain, id, cvm);
  await unlinkAsset(table, { domain, assetId: algorithm, computationId: id, ...byAlice });
  await endRunWith(stores, domain, first);
  await linkAsset(table, { domain, assetId: algorithm, computationId: id, ...byAlice });
  const second = await aRun(stores, domain, id, cvm);
  await endRunWith(stores, domain, second, ['Failed', 'Failed']);
  return { id, runs: [first, second], assets: [algorithm, dataset] };
}

const removeComputation = (id: string, table = stores.table) => deleteComputation(table, { domain, id, permit: allowed });

async function expectNothingLeft({ id, runs }: { id: string; runs: string[] }, death: string): Promise<void> {
  await purgeAll(stores.table, stores.content);
  expect([death, ...(await itemsNaming(stores.table, [id, ...runs]))]).toEqual([death]);
}

describe('the purge of a computation', () => {
  it('leaves no item of the computation, at whichever call its deletion died', async () => {
    const calls = await dieAtEveryCall(
      stores,
      aLivedComputation,
      ({ id }) => removeComputation(id, stores.mortal),
      async (computation, death) => {
        await removeComputation(computation.id).catch(isGone);
        await expectNothingLeft(computation, death);
      },
    );
    expect(calls).toBeGreaterThan(10);
  });

  it('leaves no item of the computation, at whichever call the purge itself died before', async () => {
    const prepare = async () => {
      const computation = await aLivedComputation();
      await cutOffAfter(2, stores, () => removeComputation(computation.id, stores.mortal).catch(() => undefined));
      return computation;
    };
    const purge = () => purgeAll(stores.mortal, stores.content);
    const calls = await dieAtEveryCall(stores, prepare, purge, expectNothingLeft);
    expect(calls).toBeGreaterThan(20);
  });

  it('ends although no attempt can read the snapshots of all its runs', async () => {
    const { id, runs } = await aLivedComputation();
    await cutOffAfter(2, stores, () => removeComputation(id, stores.mortal));
    const manifest = 'x'.repeat(380_000);
    for (let count = 0; count < 120; count += 10) {
      const runIds = Array.from({ length: 10 }, (_, number) => `large-${count + number}`);
      await putItems(
        stores.table,
        runIds.map((run_id) => ({ ...runKeys.snapshot(id, run_id), run_id, manifest })),
      );
    }
    const attempt = async (): Promise<boolean> => {
      let isOver = false;
      const purge = () => purgeListings(stores.mortal, { domain, id }).then(() => (isOver = true));
      await cutOffAfter(callsOfAnAttempt, stores, () => purge().catch(() => undefined));
      return isOver;
    };
    let attempts = 1;
    while (attempts < 10 && !(await attempt())) attempts += 1;
    expect(attempts).toBeLessThan(10);
    expect(await queryPrefix(stores.table, runKeys.partition(id), runKeys.prefixes.snapshot)).toEqual([]);
    await expectNothingLeft({ id, runs }, 'in several attempts');
  });

  it('fails if DynamoDB does not answer when a run is to be removed', async () => {
    const { id, runs } = await aLivedComputation();
    await cutOffAfter(2, stores, () => removeComputation(id, stores.mortal));
    stores.proxy.inject({ kind: 'dropped', share: 1, operations: ['TransactWriteItems'] });
    await expect(purgeListings(stores.mortal, { domain, id })).rejects.toThrow();
    stores.proxy.inject(undefined);
    await expectNothingLeft({ id, runs }, 'without an answer');
  });

  it('ends after a deletion that was answered as done, although the assets are deleted in between', async () => {
    const { id, assets } = await aLivedComputation();
    await cutOffAfter(2, stores, () => removeComputation(id, stores.mortal));
    await expect(removeComputation(id)).rejects.toMatchObject({ code: 'not_found' });
    for (const assetId of assets) await deleteAsset(stores.table, { domain, id: assetId, ...byAlice });
    await expectNothingLeft({ id, runs: assets }, 'with its assets');
  });
});

const removeAsset = (id: string, table = stores.table) => deleteAsset(table, { domain, id, ...byAlice });

async function aLinkedAsset() {
  const asset = await anAsset(stores, domain, { file_name: 'iris.csv', asset_type: 'dataset' });
  const computations = [await aComputation(stores.table, domain), await aComputation(stores.table, domain)];
  await recordContentRead(stores.table, { domain, assetId: asset, user: 'bob', now: byAlice.now });
  for (const computationId of computations) await linkAsset(stores.table, { domain, assetId: asset, computationId, ...byAlice });
  return { asset, computations };
}

async function expectUnlinked({ asset, computations }: Awaited<ReturnType<typeof aLinkedAsset>>, death: string): Promise<void> {
  await purgeAll(stores.table, stores.content);
  const named = await itemsNaming(stores.table, [asset]);
  expect([death, ...named.filter((key) => !key.startsWith('journal#'))]).toEqual([death]);
  expect((await contentKeys(stores.content)).filter((key) => key.includes(asset))).toEqual([]);
  for (const id of computations) {
    const { events } = await readEvents(stores.table, id, {}, { limit: 10, offset: 0 });
    expect(events.map((event) => event.event_type)).toEqual(['asset_unlinked', 'asset_linked', 'created']);
    expect((await readComputation(stores.table, domain, id)).dataset_count).toBe(0);
    expect((await readDefinition(stores.table, id)).datasets).toEqual([]);
  }
}

describe('the purge of an asset', () => {
  it('leaves neither links nor content, and one event at each computation, at whichever call the deletion died', async () => {
    const calls = await dieAtEveryCall(
      stores,
      aLinkedAsset,
      ({ asset }) => removeAsset(asset, stores.mortal),
      async (prepared, death) => {
        await removeAsset(prepared.asset).catch(isGone);
        await expectUnlinked(prepared, death);
      },
    );
    expect(calls).toBeGreaterThan(10);
  });

  it('leaves neither links nor content, and one event at each computation, at whichever call the purge itself died before', async () => {
    const prepare = async () => {
      const linked = await aLinkedAsset();
      await cutOffAfter(5, stores, () => removeAsset(linked.asset, stores.mortal).catch(() => undefined));
      return linked;
    };
    const calls = await dieAtEveryCall(stores, prepare, () => purgeAll(stores.mortal, stores.content), expectUnlinked);
    expect(calls).toBeGreaterThan(10);
  });

  it('leaves no index of its list if a fold that began before commits after', async () => {
    const { asset } = await aLinkedAsset();
    const list = rowLists.linkedComputations(asset);
    const { pk, sk } = keysOf(list.name).head;
    let waiting = 0;
    beforePutOf(stores.mortal, writableKey(pk, sk), async () => {
      await removeAsset(asset);
      ({ waiting } = await purgeAll(stores.table, stores.content));
    });
    await openList(stores.mortal, list).fold({ least: 1 });
    const ofIndex = async () => (await itemsNaming(stores.table, [asset])).filter((key) => /^(index|nodes)#/.test(key));
    expect([waiting, await ofIndex()]).toEqual([1, expect.arrayContaining([`${pk} ${sk}`])]);
    await purgeUntilOver(stores);
    expect(await ofIndex()).toEqual([]);
    expect((await itemsNaming(stores.table, [asset])).filter((key) => !key.startsWith('journal#'))).toEqual([]);
  });

  it('ends although the linked computations are deleted in between', async () => {
    const { asset, computations } = await aLinkedAsset();
    await cutOffAfter(5, stores, () => removeAsset(asset, stores.mortal));
    for (const id of computations) await deleteComputation(stores.table, { domain, id, permit: allowed });
    await purgeAll(stores.table, stores.content);
    expect(await itemsNaming(stores.table, [asset, ...computations])).toEqual([]);
  });
});

describe('the table after purges', () => {
  it('has no contradictions', async () => {
    expect(inconsistencies(await scan(stores.table))).toEqual([]);
  });
});
