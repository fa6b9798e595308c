import { describe, expect, it } from 'vitest';
import { markForDeletion, removeDeletionMark, readAsset } from '../../../shared/rows/asset.ts';
import { Deadline, systemClock } from '../../../shared/runtime/deadline.ts';
import { deleteAsset } from '../../../shared/assets/delete-asset.ts';
import { linkAsset } from '../../../shared/assets/link-asset.ts';
import { readClaims } from '../../../shared/rows/claim.ts';
import { assetsOfRun } from '../../../shared/rows/run-snapshot.ts';
import { startRun } from '../../../shared/runs/start-run.ts';
import { runKeys } from '../../../shared/table/keys.ts';
import { type Table, getItem } from '../../../shared/table/table.ts';
import { addHalfLinks, anAsset, aReadyComputation, byAlice, startStores } from '../../support/builders-store.ts';
import { testClock } from '../../support/test-clock.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { stepThrough } from '../../support/stepped-calls.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';
let cvms = 0;

/** Creates a computation that is ready to run, with a dataset that has many links. */
async function aWorld() {
  const { id } = await aReadyComputation(stores, domain);
  const dataset = await anAsset(stores, domain, { file_name: 'iris.csv', asset_type: 'dataset' });
  await linkAsset(stores.table, { domain, assetId: dataset, computationId: id, ...byAlice });
  await addHalfLinks(stores.table, dataset);
  const cvmId = `cvm-${++cvms}`;
  return {
    cvmId,
    dataset: () => readAsset(stores.table, domain, dataset),
    refusedDeletion: (table: Table, matchesIfMatch = () => false) =>
      deleteAsset(table, { domain, id: dataset, ...byAlice, matchesIfMatch }),
    start: async (table: Table) => {
      const { runId } = await startRun(table, stores.executions, { domain, computationId: id, cvmId, ...byAlice });
      return { usesDataset: assetsOfRun(await getItem(stores.table, runKeys.snapshot(id, runId))).includes(dataset) };
    },
  };
}

describe('a run that starts while the deletion of a dataset with many links is refused', () => {
  it('waits until the deletion has failed, and starts with the dataset', async () => {
    const world = await aWorld();
    const deletion = stepThrough(stores.table, world.refusedDeletion);
    while ((await world.dataset()).closing_until == null) await deletion.step(1);
    const start = stepThrough(stores.table, world.start);
    await start.step(12); // more than one attempt
    expect(await deletion.finish()).toMatchObject({ code: 'precondition_failed' });
    expect(await start.finish()).toEqual({ usesDataset: true });
  });

  it('fails with unavailable, and takes no CVM, while the deletion is still under way when its time is up', async () => {
    const world = await aWorld();
    const marked = await markForDeletion(stores.table, domain, await world.dataset(), byAlice.now);
    const impatient = { ...stores.table, deadline: () => new Deadline(60_000, systemClock, { retryTime: 300 }) };
    await expect(world.start(impatient)).rejects.toMatchObject({ code: 'unavailable' });
    expect((await readClaims(stores.table)).filter(({ cvm_id }) => cvm_id === world.cvmId)).toEqual([]);
    await removeDeletionMark(stores.table, domain, marked);
    expect(await world.start(stores.table)).toEqual({ usesDataset: true });
  });
});

describe('a refused deletion of an asset with many links', () => {
  it('leaves the asset to new runs, also when the time of its request is over', async () => {
    const world = await aWorld();
    const clock = testClock();
    const deadline = new Deadline(60_000, clock);
    const table = { ...stores.table, deadline: () => deadline };
    const matchesIfMatch = () => {
      clock.move(60_000);
      return false;
    };
    await expect(world.refusedDeletion(table, matchesIfMatch)).rejects.toMatchObject({ code: 'precondition_failed' });
    expect((await world.dataset()).closing_until).toBeNull();
  });
});
