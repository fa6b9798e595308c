import { describe, expect, it } from 'vitest';
import { recordContentRead } from '../../../shared/assets/content-reads.ts';
import { deleteAsset } from '../../../shared/deletion/delete-asset.ts';
import { deleteComputation } from '../../../shared/deletion/delete-computation.ts';
import { readComputation, readDefinition } from '../../../shared/computations/read-computation.ts';
import { readEvents } from '../../../shared/events/read-events.ts';
import { linkAsset, unlinkAsset } from '../../../shared/links/link-asset.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { indexedLists } from '../../../shared/lists/indexed-list.ts';
import { indexKeys } from '../../../shared/table/keys.ts';
import { contentKeys, cutOffAfter, dieAtEveryCall, itemsNaming, purgeUntilOver } from '../../support/builders-purge.ts';
import {
  allowed,
  aComputation,
  anAsset,
  aReadyComputation,
  aRun,
  byAlice,
  endRunWith,
  startStores,
} from '../../support/builders-store.ts';
import { beforePutOf } from '../../support/interleave.ts';
import { inconsistencies, scan } from '../../support/inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';
const remove = (id: string, table = stores.table) => deleteAsset(table, { domain, id, ...byAlice });
const isGone = (error: unknown) => expect(error).toMatchObject({ code: 'not_found' });

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
      ({ asset }) => remove(asset, stores.mortal),
      async (prepared, death) => {
        await remove(prepared.asset).catch(isGone);
        await expectUnlinked(prepared, death);
      },
    );
    expect(calls).toBeGreaterThan(10);
  });

  it('leaves neither links nor content, and one event at each computation, at whichever call the purge itself died before', async () => {
    const prepare = async () => {
      const linked = await aLinkedAsset();
      await cutOffAfter(5, stores, () => remove(linked.asset, stores.mortal).catch(() => undefined));
      return linked;
    };
    const calls = await dieAtEveryCall(stores, prepare, () => purgeAll(stores.mortal, stores.content), expectUnlinked);
    expect(calls).toBeGreaterThan(10);
  });

  it('leaves no index of its list if a fold that began before commits after', async () => {
    const { asset } = await aLinkedAsset();
    const { index } = indexedLists.linkedComputations(asset);
    let waiting = 0;
    beforePutOf(stores.mortal, indexKeys.head(index), async () => {
      await remove(asset);
      ({ waiting } = await purgeAll(stores.table, stores.content));
    });
    await foldChanges(stores.mortal, index, 1);
    const ofIndex = async () => (await itemsNaming(stores.table, [asset])).filter((key) => /^(index|nodes)#/.test(key));
    expect([waiting, await ofIndex()]).toEqual([1, expect.arrayContaining([`index#linked#${asset} head`])]);
    await purgeUntilOver(stores);
    expect(await ofIndex()).toEqual([]);
    expect((await itemsNaming(stores.table, [asset])).filter((key) => !key.startsWith('journal#'))).toEqual([]);
  });

  it('ends although the linked computations are deleted in between', async () => {
    const { asset, computations } = await aLinkedAsset();
    await cutOffAfter(5, stores, () => remove(asset, stores.mortal));
    for (const id of computations) await deleteComputation(stores.table, { domain, id, permit: allowed });
    await purgeAll(stores.table, stores.content);
    expect(await itemsNaming(stores.table, [asset, ...computations])).toEqual([]);
  });
});

describe('the deletion of an asset', () => {
  it('answers asset_in_use until the end of a run that uses the asset, also when it has been unlinked since', async () => {
    const { id, algorithm } = await aReadyComputation(stores, domain);
    const run = await aRun(stores, domain, id, 'cvm-uses');
    const inUse = { code: 'conflict', extras: { reason: 'asset_in_use', run_id: run } };
    await expect(remove(algorithm)).rejects.toMatchObject(inUse);
    await unlinkAsset(stores.table, { domain, assetId: algorithm, computationId: id, ...byAlice });
    await expect(remove(algorithm)).rejects.toMatchObject(inUse);
    await endRunWith(stores, domain, run);
    await remove(algorithm);
    await purgeAll(stores.table, stores.content);
    expect((await itemsNaming(stores.table, [algorithm])).filter((key) => key.startsWith('uses#'))).toEqual([]);
  });

  it('leaves a table without contradictions', async () => {
    expect(inconsistencies(await scan(stores.table))).toEqual([]);
  });
});
