import { createHash } from 'node:crypto';
import { type Decision, outcomeOf } from 'computation-management-formats/consent';
import { describe, expect, it } from 'vitest';
import { withdrawApproval } from '../../../shared/approvals/approve.ts';
import { deleteAsset } from '../../../shared/assets/delete-asset.ts';
import { describeAsset } from '../../../shared/assets/describe-asset.ts';
import { collectContent } from '../../../shared/assets/collect-content.ts';
import { receiveUpload } from '../../../shared/assets/uploads.ts';
import { deleteComputation } from '../../../shared/computations/delete-computation.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { readEvents } from '../../../shared/events/read-events.ts';
import { getContent, putContent } from '../../../shared/rows/content-store.ts';
import { assetKey, findAsset } from '../../../shared/rows/asset.ts';
import { readRun, type RunReference } from '../../../shared/rows/run.ts';
import { ServiceError } from '../../../shared/runtime/errors.ts';
import { handInResult } from '../../../shared/results/hand-in-result.ts';
import { decideResult } from '../../../shared/results/decide-result.ts';
import { getItem, type Table } from '../../../shared/table/table.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { allowed, aReviewedRun, byAlice, startStores } from '../../support/builders-store.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);
const domain = 'd1';
const everyone = ['alice', 'rita', 'ruth', 'rob'];
const stepsOfHistory = 12;
const histories = amount({ sample: 4, full: 3_000 });
const contents = ['species,count\n', 'species,count\nAdelie,152\n'];
const checksumOf = (content: string) => createHash('sha3-256').update(content).digest('hex');

interface History {
  run: RunReference;
  needed: number;
  reviewers: string[];
  /** The assets that were handed in. */
  assets: Set<string>;
}

/**
 * Takes one step of a history, by a reviewer or a stranger: hands in a file, lets it arrive, withdraws an approval, or decides. Or the owner
 * deletes the file, which is refused before its release. A step may be refused.
 */
async function step({ run, reviewers, assets }: History, table: Table, random: () => number): Promise<void> {
  const one = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const by = one([...reviewers, 'carol']);
  const content = one(contents);
  const permit = ({ reviewer = [] }: { reviewer?: string | readonly string[] }) => {
    if (!reviewer.includes(by)) throw new ServiceError('forbidden', 'no');
    return allowed();
  };
  const request = { domain, computationId: run.computation_id, runId: run.run_id, by, now: byAlice.now, permit };
  const what = random();
  if (what < 0.3) {
    const given = { file_name: 'counts.csv', size: content.length, checksum: checksumOf(content) };
    assets.add((await handInResult(table, stores.content, { ...request, given })).asset.id);
  } else if (what < 0.6) {
    const asset = (await readRun(table, domain, run.run_id))?.result?.asset;
    if (!asset) return;
    assets.add(asset);
    const key = findAsset(await getItem(table, assetKey(domain, asset)), asset)?.upload_key;
    if (!key) return;
    await putContent(stores.content, key, Buffer.from(content));
    await receiveUpload(table, stores.content, key, byAlice.now);
  } else if (what < 0.65) {
    await withdrawApproval(table, { domain, computationId: run.computation_id, by, now: byAlice.now });
  } else if (what < 0.68) {
    if (assets.size > 0)
      await deleteAsset(table, { domain, id: one([...assets]), by: 'olga', now: byAlice.now, permit: allowed });
  } else {
    const decision = one<Decision>(['release', 'release', 'withhold']);
    await decideResult(table, { ...request, resultDays: 30, given: { decision, checksum: checksumOf(content), note: '' } });
  }
}

/** Returns the decisions in the journal, and the last event about the result. */
async function journalOf({ computation_id, run_id }: RunReference) {
  const { events } = await readEvents(stores.table, computation_id, { run_id }, { limit: 100, offset: 0 });
  const of = (type: string) => events.filter(({ event_type }) => event_type === type).toReversed();
  const decided = of('result_decided').map(({ originator, details }) => ({
    reviewer: originator,
    ...(JSON.parse(Buffer.from(details, 'base64').toString()) as { decision: Decision; checksum: string }),
  }));
  return {
    decided,
    ends: events.map(({ event_type }) => event_type).filter((type) => /^result_(released|withheld)$/.test(type)),
  };
}

/** Expects that everything agrees with the journal: the result, and who gets which content. */
async function expectRight({ run, needed, reviewers, assets }: History): Promise<void> {
  const { decided, ends } = await journalOf(run);
  const result = (await readRun(stores.table, domain, run.run_id))?.result;
  expect(new Set(decided.map(({ reviewer }) => reviewer)).size).toBe(decided.length);
  expect(result?.decisions.map(({ reviewer, decision }) => [reviewer, decision])).toEqual(
    decided.map(({ reviewer, decision }) => [reviewer, decision]),
  );
  const outcome = outcomeOf({ reviewers, needed }, decided);
  expect(ends).toEqual(outcome === undefined ? [] : [`result_${outcome}`]);
  if (outcome !== undefined) expect(result?.state).toBe(outcome);
  for (const { checksum } of decided) expect(checksum).toBe(result?.checksum);
  for (const id of assets) {
    const read = (by: string) =>
      describeAsset(stores.table, stores.content, { domain, id, by, now: byAlice.now }).catch((error: unknown) => {
        if (error instanceof ServiceError && error.code === 'not_found') return undefined;
        throw error;
      });
    const isThere = (await getItem(stores.table, assetKey(domain, id))) !== undefined;
    if (!isThere && id === result?.asset) expect(outcome).toBe('released');
    const isReleased = isThere && outcome === 'released' && id === result?.asset;
    for (const by of ['carol', 'olga']) expect((await read(by))?.asset?.asset !== undefined).toBe(isReleased);
    expect((await read('eve'))?.asset?.asset).toBeUndefined();
  }
}

describe(`results under review, with steps at once and answers that get lost (seed ${sampleSeed})`, () => {
  it(
    'reach consumers only by the releases that are needed, and each decision is in the journal',
    { timeout: 3_600_000 },
    async () => {
      let released = 0;
      for (let index = 0; index < histories; index++) {
        const random = seededRandom(sampleSeed * 100_000 + index);
        const reviewers = everyone.slice(0, 2 + Math.floor(random() * 3));
        const needed = 1 + Math.floor(random() * reviewers.length);
        const run = await aReviewedRun(stores, domain, 'awaiting', { reviewers, needed });
        const history: History = { run, needed, reviewers, assets: new Set() };
        for (let count = 0; count < stepsOfHistory; count++) {
          const isFaulty = random() < 0.4;
          if (isFaulty) stores.proxy.inject({ kind: 'lost-answer', share: 1 / 2, operations: ['TransactWriteItems'] });
          const atOnce = 1 + Math.floor(random() * 3);
          const table = isFaulty ? stores.mortal : stores.table;
          const isDeleted = random() < 0.04;
          await Promise.allSettled([
            ...Array.from({ length: atOnce }, () => step(history, table, random)),
            ...(isDeleted ? [deleteComputation(table, { domain, id: run.computation_id, permit: allowed })] : []),
          ]);
          stores.proxy.inject(undefined);
          if (isDeleted) break;
          await expectRight(history);
        }
        const ended = await readRun(stores.table, domain, run.run_id);
        if (ended?.result?.state === 'released') released += 1;
        if (!ended || random() < 0.5) await expectGone(history);
      }
      if (histories > 100) expect(released).toBeGreaterThan(0);
    },
  );
});

/** Deletes the computation of a history, and expects that nothing of its results is left. */
async function expectGone({ run, assets }: History): Promise<void> {
  const deletion = deleteComputation(stores.table, { domain, id: run.computation_id, permit: allowed });
  await deletion.catch((error: unknown) => expect(error).toMatchObject({ code: 'not_found' }));
  await purgeAll(stores.table, stores.content);
  for (const id of assets) expect(await getItem(stores.table, assetKey(domain, id))).toBeUndefined();
}

describe('the deletion of a computation that is cut off', () => {
  it('leaves nothing of the content of its results', async () => {
    const { run_id, computation_id: id } = await aReviewedRun(stores, domain, 'handed in');
    const asset = (await readRun(stores.table, domain, run_id))?.result?.asset ?? '';
    const key = findAsset(await getItem(stores.table, assetKey(domain, asset)), asset)?.content_key ?? '';
    const collect = () => collectContent(stores.table, stores.content, new Date(Date.now() + 3 * 3_600_000).toISOString());
    await collect(); // the check of the upload is over
    expect(await getContent(stores.content, key)).toBeDefined();
    await deleteComputation(stores.table, { domain, id, permit: allowed });
    const cutOff = { ...stores.content, bucket: 'absent' };
    await expect(purgeAll(stores.table, cutOff)).rejects.toThrow();
    await purgeAll(stores.table, stores.content);
    await collect();
    expect(await getContent(stores.content, key)).toBeUndefined();
  });
});
