import { beforeEach, describe, expect, it } from 'vitest';
import { readAsset } from '../../../shared/rows/asset.ts';
import { Deadline, systemClock } from '../../../shared/runtime/deadline.ts';
import { deleteAsset } from '../../../shared/assets/delete-asset.ts';
import { deleteComputation } from '../../../shared/computations/delete-computation.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { purgeListings } from '../../../shared/deletion/purge.ts';
import { linkAsset, unlinkAsset } from '../../../shared/assets/link-asset.ts';
import { slowness } from '../../support/patience.ts';
import { amount, oneIn } from '../../support/amounts.ts';
import { itemsNaming, purgeUntilOver } from '../../support/builders-purge.ts';
import {
  aComputation,
  addHalfLinks,
  allowed,
  aReadyComputation,
  aRun,
  byAlice,
  endRunWith,
  startStores,
} from '../../support/builders-store.ts';
import { beforeTheNextTransaction } from '../../support/interleave.ts';
import { inconsistencies, scan } from '../../support/inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { listRuns } from '../../../shared/runs/read-runs.ts';

beforeEach(oneIn(2));

/** The number of runs of a large computation. `npm run test:full` deletes 5,000, with a round trip of 5 ms. */
const manyRuns = amount({ sample: 12, full: 5_000 });
const manyLinks = amount({ sample: 91, full: 5_000 });
const mostMilliseconds = 3_000;
/**
 * The longest time in milliseconds until the runs of a deleted computation have left the list of endpoint 8, if the purge begins
 * at once.
 */
const mostMillisecondsInList = 60_000;

const stores = sharedByTests(() => startStores({ latencyInMilliseconds: 5 }));

const domain = 'd1';
const isGone = { code: 'not_found' };

/** The milliseconds that work takes, and its calls to DynamoDB through `stores.mortal`. */
interface Figures {
  milliseconds: number;
  calls: number;
}

async function measure(work: () => Promise<unknown>): Promise<Figures> {
  const [start, callsBefore] = [performance.now(), stores.proxy.calls.length];
  await work();
  return { milliseconds: Math.round(performance.now() - start), calls: stores.proxy.calls.length - callsBefore };
}

const described = (what: string, { milliseconds, calls }: Figures) => `${what}: ${milliseconds} ms, ${calls} calls`;

/** Creates a computation that is ready to run, whose algorithm has more links than fit into a transaction. */
async function aWidelyLinkedAsset(): Promise<{ id: string; algorithm: string }> {
  const ready = await aReadyComputation(stores, domain);
  await addHalfLinks(stores.table, ready.algorithm);
  return ready;
}

/** Creates a computation that is ready to run, and links its algorithm to `count` computations in all. */
async function anAssetWithLinks(count: number): Promise<{ id: string; algorithm: string }> {
  const ready = await aReadyComputation(stores, domain);
  await inParallel([...Array(count - 1).keys()], async () => {
    const computationId = await aComputation(stores.table, domain);
    await linkAsset(stores.table, { domain, assetId: ready.algorithm, computationId, ...byAlice });
  });
  return ready;
}

describe('a big deletion', () => {
  it(`answers in under 3 seconds for a computation with ${manyRuns} runs, and the purge removes them from the list`, async ({
    annotate,
  }) => {
    const { id } = await aReadyComputation(stores, domain);
    for (let count = 0; count < manyRuns; count++) await endRunWith(stores, domain, await aRun(stores, domain, id));
    const deletion = await measure(() => deleteComputation(stores.mortal, { domain, id, permit: allowed }));
    expect(deletion.milliseconds).toBeLessThan(mostMilliseconds * slowness());
    const listing = await measure(() => purgeListings(stores.mortal, { domain, id }));
    expect(await listRuns(stores.table, domain, { limit: 10, offset: 0 })).toEqual({ runs: [], total: 0 });
    expect(deletion.milliseconds + listing.milliseconds).toBeLessThan(mostMillisecondsInList * slowness());
    const purge = await measure(() => purgeAll(stores.mortal, stores.content));
    const figures = [
      described('the deletion', deletion),
      described('of its runs from the list', listing),
      described('of the rest', purge),
    ];
    await annotate(figures.join('; '));
    expect(await itemsNaming(stores.table, [id])).toEqual([]);
  });

  it(`answers in under 3 seconds for an asset with ${manyLinks} links, and the purge removes them`, async ({ annotate }) => {
    const { algorithm } = await anAssetWithLinks(manyLinks);
    const deletion = await measure(() => deleteAsset(stores.mortal, { domain, id: algorithm, ...byAlice }));
    expect(deletion.milliseconds).toBeLessThan(mostMilliseconds * slowness());
    await expect(readAsset(stores.table, domain, algorithm)).rejects.toMatchObject(isGone);
    const purge = await measure(() => purgeUntilOver({ table: stores.mortal, content: stores.content }));
    await annotate([described('the deletion', deletion), described('its purge with folds', purge)].join('; '));
    const left = await itemsNaming(stores.table, [algorithm]);
    expect(left.filter((key) => !key.startsWith('journal#'))).toEqual([]);
    expect(inconsistencies(await scan(stores.table))).toEqual([]);
  });
});

describe('the deletion of an asset with more links than fit into a transaction', () => {
  const remove = (id: string) => deleteAsset(stores.mortal, { domain, id, ...byAlice });

  it('is refused when a run with the asset starts just before, and the asset stays usable', async () => {
    const { id, algorithm } = await aWidelyLinkedAsset();
    let run = '';
    beforeTheNextTransaction(stores.mortal, async () => (run = await aRun(stores, domain, id, 'cvm-before')));
    await expect(remove(algorithm)).rejects.toMatchObject({
      code: 'conflict',
      extras: { reason: 'asset_in_use', run_id: expect.any(String) },
    });
    await endRunWith(stores, domain, run);
    const next = await aRun(stores, domain, id, 'cvm-before');
    await endRunWith(stores, domain, next);
    await remove(algorithm);
    await purgeAll(stores.table, stores.content);
  });

  it('succeeds while a run is active that began before the asset was linked', async () => {
    const { algorithm: wide } = await aWidelyLinkedAsset();
    const { id, algorithm: own } = await aReadyComputation(stores, domain);
    const run = await aRun(stores, domain, id, 'cvm-unaffected');
    await unlinkAsset(stores.table, { domain, assetId: own, computationId: id, ...byAlice });
    await linkAsset(stores.table, { domain, assetId: wide, computationId: id, ...byAlice });
    await remove(wide);
    await expect(remove(own)).rejects.toMatchObject({ extras: { reason: 'asset_in_use', run_id: run } });
    await endRunWith(stores, domain, run);
    await purgeAll(stores.table, stores.content);
  });

  it('lets no run start with the asset while it is under way', async () => {
    const { id, algorithm } = await aWidelyLinkedAsset();
    let answer: Promise<unknown> | undefined;
    // The start waits for the outcome of the deletion, which does not wait for it.
    const start = async () => void (answer = aRun(stores, domain, id, 'cvm-while').catch((error: unknown) => error));
    beforeTheNextTransaction(stores.mortal, async () => beforeTheNextTransaction(stores.mortal, start));
    await remove(algorithm);
    expect(await answer).toMatchObject({ code: 'incomplete' });
    await purgeAll(stores.table, stores.content);
    expect(inconsistencies(await scan(stores.table))).toEqual([]);
  });

  it('keeps runs from using the asset, even if another deletion of it is refused at the same time', async () => {
    const { id, algorithm } = await aWidelyLinkedAsset();
    const refused = () => deleteAsset(stores.table, { domain, id: algorithm, ...byAlice, matchesIfMatch: () => false });
    const deadline = () => new Deadline(60_000, systemClock, { retryTime: 200 });
    const hurried = { ...stores, table: { ...stores.table, deadline } };
    let answers: unknown[] = [];
    const meanwhile = async () => {
      const refusal = await refused().catch((error: unknown) => error);
      answers = [refusal, await aRun(hurried, domain, id, 'cvm-two').catch((error: unknown) => error)];
    };
    beforeTheNextTransaction(stores.mortal, async () => beforeTheNextTransaction(stores.mortal, meanwhile));
    await remove(algorithm);
    expect(answers).toMatchObject([{ code: 'precondition_failed' }, { code: 'unavailable' }]);
    await purgeAll(stores.table, stores.content);
  });

  it('makes a start read again that has read the asset before', async () => {
    const { id, algorithm } = await aWidelyLinkedAsset();
    beforeTheNextTransaction(stores.mortal, async () => {
      await deleteAsset(stores.table, { domain, id: algorithm, ...byAlice });
      await purgeAll(stores.table, stores.content);
    });
    const started = aRun({ ...stores, table: stores.mortal }, domain, id, 'cvm-again');
    await expect(started).rejects.toMatchObject({ code: 'incomplete' });
  });
});
