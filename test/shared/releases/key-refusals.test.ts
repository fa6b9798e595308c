import { describe, expect, it } from 'vitest';
import { linkAsset } from '../../../shared/assets/link-asset.ts';
import { recordOutcome } from '../../../shared/lifecycle/run-steps.ts';
import { refuseKey, releaseKey } from '../../../shared/releases/release-key.ts';
import { readRun } from '../../../shared/rows/run.ts';
import { aDatasetOfBob, byAlice, keyAsset, startStores } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { KeyedComputation } from './keyed-runs.ts';

const stores = sharedByTests(startStores);
const domain = 'd1';
const now = () => byAlice.now;

/** Lets the guest of a run be refused the keys of files, then get some of them, and fail. Returns the reason of the run's end. */
async function reasonAfter(refused: readonly (0 | 1)[], released: readonly (0 | 1)[]): Promise<string | null | undefined> {
  const made = await KeyedComputation.make(stores);
  const other = await aDatasetOfBob(stores, domain, 'wine.csv', 'approval');
  await linkAsset(stores.table, { domain, assetId: other, computationId: made.id, ...byAlice });
  await keyAsset(stores.table, domain, other);
  await made.approve();
  const run = await made.start();
  await made.accept(run);
  const request = made.request(run);
  const requests = [request, { ...request, asset: other }] as const;
  for (const file of refused) {
    await expect(refuseKey(stores.table, requests[file], `refused ${file}`, now)).rejects.toMatchObject({ code: 'forbidden' });
  }
  for (const file of released) await releaseKey(stores.table, requests[file], () => Promise.resolve(true), now);
  await recordOutcome(stores.table, stores.executions, { run: request.run.run }, now());
  return (await readRun(stores.table, domain, run))?.reason;
}

describe('the reason of a run that failed', () => {
  it('is the refusal of a key that it did not get, though that of another came later and this one was released', async () => {
    expect(await reasonAfter([0, 1], [1])).toBe('refused 0');
    expect(await reasonAfter([0, 1, 0], [0])).toBe('refused 1');
  });

  it('is the newest refusal of several', async () => {
    expect(await reasonAfter([1, 0], [])).toBe('refused 0');
  });

  it('is no refusal once it got all keys', async () => {
    expect(await reasonAfter([0, 1], [0, 1])).not.toMatch(/refused/);
  });
});
