import { sign } from 'node:crypto';
import { decisionText } from 'computation-management-formats/consent';
import { expect, it } from 'vitest';
import { readRun } from '../../../shared/rows/run.ts';
import { decideResult } from '../../../shared/results/decide-result.ts';
import { aReviewedRun, byAlice, privateKey, startStores } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);

it.each([
  [['alice', 'rita'], false],
  [['alice'], true],
])('a decision is signed by a key that speaks for one reviewer alone: %j', async (reviewers, isOwn) => {
  const reviewed = await aReviewedRun(stores, 'd1', 'handed in', { reviewers, needed: 1 });
  const { domain, computation_id: computation, run_id: run, checksum } = reviewed;
  const manifest_digest = (await readRun(stores.table, domain, run))?.manifest_digest ?? '';
  const given = { decision: 'release', checksum, note: '' } as const;
  const text = decisionText({ domain, computation, run, reviewer: 'alice', manifest_digest, ...given });
  const signature = sign(null, Buffer.from(text), privateKey).toString('base64');
  const request = { domain, computationId: computation, runId: run, ...byAlice, resultDays: 30 };
  const decided = decideResult(stores.table, { ...request, given: { ...given, signature } });
  if (isOwn) expect((await decided).run).toMatchObject({ result: { state: 'released' } });
  else await expect(decided).rejects.toMatchObject({ code: 'invalid_request', extras: { errors: [{ pointer: '/signature' }] } });
});
