import { describe, expect, it } from 'vitest';
import { updateAsset } from '../../../shared/assets/update-asset.ts';
import { linkAsset, unlinkAsset } from '../../../shared/assets/link-asset.ts';
import { aComputation, anAsset, byAlice, startStores } from '../../support/builders-store.ts';
import { beforeCall } from '../../support/interleave.ts';
import { inconsistencies, scan } from '../../support/inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { readDefinition } from '../../../shared/rows/definition.ts';
import { readComputation } from '../../../shared/rows/computation.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';
const aDataset = (name: string) => anAsset(stores, domain, { file_name: name, asset_type: 'dataset' });
const link = (assetId: string, computationId: string) => linkAsset(stores.table, { domain, assetId, computationId, ...byAlice });
const unlink = (assetId: string, computationId: string) =>
  unlinkAsset(stores.table, { domain, assetId, computationId, ...byAlice });
const become = (id: string, asset_type: 'algorithm' | 'dataset') => {
  const fields = { file_name: 'one-more', description: '', mime_type: '', user_key: '', asset_type };
  return updateAsset(stores.table, stores.content, { domain, id, given: fields, ...byAlice });
};

describe('linkAsset', () => {
  it('links 100 datasets in order, and throws too_large for a 101st or an algorithm that becomes one', async () => {
    const computation = await aComputation(stores.table, domain);
    const datasets: string[] = [];
    for (let index = 0; index < 100; index++) datasets.push(await aDataset(`${index}.csv`));
    for (const id of datasets) await link(id, computation);
    await expect(link(await aDataset('101.csv'), computation)).rejects.toMatchObject({ code: 'too_large' });

    const algorithm = await anAsset(stores, domain);
    await link(algorithm, computation);
    await expect(become(algorithm, 'dataset')).rejects.toMatchObject({ code: 'too_large' });
    expect((await readDefinition(stores.table, computation)).datasets.map((each) => each.asset_id)).toEqual(datasets);

    await unlink(datasets[0] ?? '', computation);
    await become(algorithm, 'dataset');
    expect(await readComputation(stores.table, domain, computation)).toMatchObject({ dataset_count: 100 });
  });

  it('links only one of two algorithms and one of two files with the same name at the same time', async () => {
    const computation = await aComputation(stores.table, domain);
    const algorithms = [await anAsset(stores, domain), await anAsset(stores, domain)];
    const datasets = [await aDataset('same.csv'), await aDataset('same.csv')];
    const answers = await Promise.allSettled([...algorithms, ...datasets].map((id) => link(id, computation)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    const refused = answers.filter((answer) => answer.status === 'rejected').map((answer) => answer.reason as unknown);
    expect(refused).toMatchObject([{ extras: { reason: 'second_algorithm' } }, { extras: { reason: 'file_name_taken' } }]);
  });

  it('writes one event for several equal links at the same time', async () => {
    const [computation, dataset] = [await aComputation(stores.table, domain), await aDataset('a.csv')];
    await Promise.all(Array.from({ length: 5 }, () => link(dataset, computation)));
    await Promise.all(Array.from({ length: 5 }, () => unlink(dataset, computation)));
    const items = await scan(stores.table);
    const events = items.filter((item) => item['pk'] === `journal#${computation}` && String(item['sk']).startsWith('event#'));
    expect(events.map((event) => event['event_type'])).toEqual(['created', 'asset_linked', 'asset_unlinked']);
    expect(inconsistencies(items)).toEqual([]);
  });
});

describe('unlinkAsset', () => {
  it('removes the link of an asset that is renamed meanwhile', async () => {
    const [computation, dataset] = [await aComputation(stores.table, domain), await aDataset('a.csv')];
    await link(dataset, computation);
    beforeCall(stores.mortal, 'Get', () => become(dataset, 'dataset'));
    await unlinkAsset(stores.mortal, { domain, assetId: dataset, computationId: computation, ...byAlice });
    expect((await readDefinition(stores.table, computation)).datasets).toEqual([]);
    expect(inconsistencies(await scan(stores.table))).toEqual([]);
  });
});
