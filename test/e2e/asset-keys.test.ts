import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { detailsIn } from 'computation-management-formats/bytes';
import { newCvm, useSession } from '../support/session.ts';
import { strictPolicy } from '../support/strict-policy.ts';

const session = useSession();

describe('the key of an asset', () => {
  it('is set, described without the key, replaced and removed by its creator', async () => {
    const { id } = await session.createAsset();
    const path = { id };
    const key = randomBytes(32);
    const fingerprint = createHash('sha256').update(key).digest('hex');
    const body = {
      held: 'service',
      key: key.toString('base64'),
      release_policy: { platforms: ['snp'], measurements: ['AB'.repeat(48)] },
    };
    const described = {
      number: 1,
      fingerprint,
      held: 'service',
      release_policy: strictPolicy,
      releases: 0,
      last_released_at: null,
    };
    const headers = { 'idempotency-key': randomUUID() };
    for (const _ of [1, 2]) {
      expect((await session.call('assets/set-asset-key', { path, body, headers })).body).toEqual(described);
    }
    const again = { ...described, key: body.key };
    expect(await session.done('assets/set-asset-key', { path, body: again })).toEqual(described);
    expect(await session.done('assets/get-asset-key', { path })).toEqual(described);
    const asset = await session.done('assets/get-asset', { path });
    expect(asset).toMatchObject({
      source: { kbs_resource_path: `${id}/key/1` },
      kbs: { url: expect.stringMatching(/^https?:\/\/[^/]+\/[\w-]+$/) as string },
      state: 'ready',
    });
    expect(JSON.stringify(asset)).not.toContain(key.toString('base64'));
    expect((await session.done('assets/update-asset', { path, body: { asset } })).asset).toBeUndefined();
    expect(await session.done('assets/get-asset', { path })).toMatchObject({ asset: asset.asset, source: asset.source });
    const other = { ...asset, asset: 'b3RoZXI=', checksum: null };
    expect((await session.call('assets/update-asset', { path, body: { asset: other } })).status).toBe(400);
    expect(await session.setAssetKey(id)).toMatchObject({ number: 2, held: 'party' });
    for (const _ of [1, 2]) await session.done('assets/remove-asset-key', { path });
    expect((await session.call('assets/get-asset-key', { path })).status).toBe(404);
  });

  it.each([
    ['no key, as GET returns it', { held: 'service', fingerprint: 'ab'.repeat(32) }, '/key'],
    ['a short key', { held: 'service', key: 'AAAA' }, '/key'],
    ['another holder', { held: 'nobody' }, '/held'],
    [
      'tdx',
      { held: 'party', fingerprint: 'ab'.repeat(32), release_policy: { ...strictPolicy, platforms: ['tdx'] } },
      '/release_policy/platforms',
    ],
  ])('is 400 with %s, which the error names', async (_what, body, pointer) => {
    const { id } = await session.createAsset();
    const { status, body: problem } = await session.call('assets/set-asset-key', { path: { id }, body });
    expect([status, problem]).toMatchObject([400, { errors: [{ pointer }] }]);
  });

  it('is in the evidence of a run, with the number of the run on its approval', async () => {
    const id = await session.readyComputation();
    const { id: dataset } = await session.createAsset({ use: 'approval' });
    await session.link(dataset, id);
    await session.setAssetKey(dataset);
    const given = { max_runs: 2, approval_id: randomUUID() };
    await session.done('approvals/approve', { path: { id }, body: { ...(await session.digestsOf(id)), ...given } });
    const cvm = newCvm();
    const run = await session.startRun(id, cvm);
    await session.endRun(cvm);
    const { statement } = await session.done('evidence/get-evidence', { path: { id }, query: { run } });
    const key = { fingerprint: 'ab'.repeat(32), held: 'party', release_policy: strictPolicy };
    expect(statement.assets.map((asset) => asset.key)).toEqual([null, key]);
    expect(statement.approvals).toMatchObject([{ ...given, use: 1 }]);
    expect(detailsIn(statement.events.last.details)).not.toHaveProperty('accepted');
    const { approvals } = await session.done('approvals/list-approvals', { path: { id } });
    expect(approvals).toMatchObject([{ ...given, used_runs: 1, stale: false }]);
  });
});
