import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { assetKeyInput, readAssetKey, removeAssetKey } from '../../../shared/assets/asset-keys.ts';
import { deleteAsset } from '../../../shared/assets/delete-asset.ts';
import { linkAsset } from '../../../shared/assets/link-asset.ts';
import { updateAsset } from '../../../shared/assets/update-asset.ts';
import { readReadiness } from '../../../shared/runs/dry-run.ts';
import { readManifest } from '../../../shared/runs/read-manifest.ts';
import { mostKeys } from '../../../shared/approvals/readiness.ts';
import { parseKeyOfRun } from '../../../shared/rows/asset-key.ts';
import { readAsset } from '../../../shared/rows/asset.ts';
import { parseSnapshot } from '../../../shared/rows/run-snapshot.ts';
import { assetKeys, computationKeys, runKeys } from '../../../shared/table/keys.ts';
import { getItem, queryPrefix } from '../../../shared/table/table.ts';
import { putItem } from '../../../shared/table/writes.ts';
import {
  allowed,
  anApproval,
  anAsset,
  aReadyComputation,
  aRun,
  aSharedComputation,
  byAlice,
  digestsOf,
  endRunWith,
  keyAsset,
  startStores,
} from '../../support/builders-store.ts';
import { betweenReads } from '../../support/interleave.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { strictPolicy } from '../../support/strict-policy.ts';
import { sealedAs } from '../../support/sealed-as.ts';

const stores = sharedByTests(startStores);
const domain = 'd1';
const permit = allowed;
const one = 'ab'.repeat(32);
const other = 'cd'.repeat(32);
const secret = Buffer.alloc(32, 7).toString('base64');
const release_policy = strictPolicy;

const keyOf = async (id: string) => (await readAssetKey(stores.table, { domain, id, permit })).key;
const remove = (id: string) => removeAssetKey(stores.table, { domain, id, now: byAlice.now, permit });
const aFile = (file_name: string) => anAsset(stores, domain, { file_name, asset_type: 'dataset', asset: btoa(file_name) });
const infoOf = async (id: string, cvmId?: string) =>
  (await readReadiness(stores.table, { domain, id, cvmId, at: byAlice.now })).missing.info;

describe('setAssetKey', () => {
  it('sets broker and path with the first key, and changes no manifest with others', async () => {
    const { id, dataset } = await aSharedComputation(stores, domain);
    const before = await digestsOf(stores, domain, id);
    await keyAsset(stores.table, domain, dataset);
    const { manifest, digest } = await readManifest(stores.table, domain, id, undefined);
    expect(digest).not.toBe(before.digest);
    expect(manifest.datasets[0]).toMatchObject({
      source: { kbs_resource_path: `${dataset}/key/1`, encrypted: true },
      kbs: { url: 'https://api.example.com/d1', enabled: true },
    });
    await anApproval(stores, domain, id);
    await keyAsset(stores.table, domain, dataset, { fingerprint: other, release_policy: { ...strictPolicy, vmpl: 2 } });
    expect(await infoOf(id)).toEqual([]);
    await remove(dataset);
    expect(await infoOf(id)).toEqual(['Key of iris.csv, which its creator removed']);
    expect((await readManifest(stores.table, domain, id, undefined)).digest).toBe(digest);
    await keyAsset(stores.table, domain, dataset);
    expect(await infoOf(id)).toEqual([]);
  });

  it('gives each other key the next number, also after a removal, and keeps a policy that is left out', async () => {
    const id = await aFile('numbers.csv');
    const numbers: number[] = [];
    const set = async (fingerprint: string) => {
      await keyAsset(stores.table, domain, id, { fingerprint, release_policy: undefined });
      numbers.push((await keyOf(id)).number);
    };
    await keyAsset(stores.table, domain, id);
    for (const fingerprint of [one, other, other]) await set(fingerprint);
    await remove(id);
    await expect(keyOf(id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(set(one)).rejects.toMatchObject({ extras: { reason: 'no_release_policy' } });
    await keyAsset(stores.table, domain, id, { fingerprint: other });
    numbers.push((await keyOf(id)).number);
    await set(one);
    expect(numbers).toEqual([1, 2, 2, 2, 3]);
    expect(await keyOf(id)).toEqual({
      number: 3,
      fingerprint: one,
      held: 'party',
      release_policy,
      releases: 0,
      last_released_at: null,
    });
  });

  it('keeps the totals of releases, and only the secret of a key that the service holds', async () => {
    const id = await aFile('totals.csv');
    const fingerprint = createHash('sha256').update(Buffer.alloc(32, 7)).digest('hex');
    await keyAsset(stores.table, domain, id, { held: 'service', key: secret });
    expect(await keyOf(id)).toMatchObject({ held: 'service', fingerprint });
    const item = await getItem(stores.table, assetKeys.key(id));
    expect(item).toMatchObject({ sealed_key: sealedAs(secret).sealed, fingerprint });
    await putItem(stores.table, { ...item, ...assetKeys.key(id), releases: 3, last_released_at: byAlice.now });
    await keyAsset(stores.table, domain, id, { fingerprint });
    expect(await keyOf(id)).toMatchObject({ number: 1, held: 'party', releases: 3, last_released_at: byAlice.now });
    expect(await getItem(stores.table, assetKeys.key(id))).not.toHaveProperty('sealed_key');
  });

  it('takes a key without a release policy only if a linked computation has a policy whose platforms name guests', async () => {
    const { id } = await aReadyComputation(stores, domain);
    const asset = await aFile('policy.csv');
    await linkAsset(stores.table, { domain, assetId: asset, computationId: id, ...byAlice });
    const set = () => keyAsset(stores.table, domain, asset, { release_policy: null });
    const policyIs = (attestation_policy: object) =>
      putItem(stores.table, { ...computationKeys.config(id), agent_config: {}, attestation_policy });
    await expect(set()).rejects.toMatchObject({ code: 'conflict', extras: { reason: 'no_release_policy' } });
    await policyIs({ ...strictPolicy, platforms: ['snp', 'tdx'] });
    await expect(set()).rejects.toThrow('allows tdx, whose evidence names no guest');
    await policyIs(strictPolicy);
    await set();
    await policyIs({ ...strictPolicy, platforms: ['snp', 'tdx'] });
    expect((await infoOf(id)).join()).toMatch(/^Key of policy.csv, which is released to .* alone: .* allow tdx/);
    await keyAsset(stores.table, domain, asset, { release_policy: { ...strictPolicy, platforms: ['snp-vtpm'] } });
    expect((await infoOf(id)).join()).toMatch(/no platform in common$/);
  });

  it('leaves content that is there, makes an asset without content ready, and refuses one without a checksum', async () => {
    const [full, empty] = [await aFile('full.csv'), await anAsset(stores, domain, pending('a'.repeat(64)))];
    for (const id of [full, empty]) await keyAsset(stores.table, domain, id);
    const given = { file_name: 'full.csv', asset_type: 'dataset' as const, description: 'D', mime_type: '' };
    await updateAsset(stores.table, stores.content, { domain, id: full, given, ...byAlice });
    expect(await readAsset(stores.table, domain, full)).toMatchObject({ state: 'ready', size: 8, description: 'D' });
    expect((await readAsset(stores.table, domain, full)).content_key).not.toBeNull();
    expect(await readAsset(stores.table, domain, empty)).toMatchObject({ state: 'ready', size: null, upload_key: null });
    await updateAsset(stores.table, stores.content, { domain, id: full, given: { ...given, source: null }, ...byAlice });
    expect(await readAsset(stores.table, domain, full)).toMatchObject({ state: 'ready', size: 8, kbs: null });
    const unknown = await anAsset(stores, domain, pending(undefined));
    await expect(keyAsset(stores.table, domain, unknown)).rejects.toMatchObject({ extras: { reason: 'no_checksum' } });
  });
});

const pending = (checksum: string | undefined) => ({
  file_name: 'pending.csv',
  asset_type: 'dataset' as const,
  asset: undefined as never,
  checksum,
});

describe('assetKeyInput', () => {
  const party = { held: 'party', fingerprint: one, release_policy };
  const service = { held: 'service', key: secret, release_policy };

  it('takes what was read of a key that a party holds', () => {
    expect(v.is(assetKeyInput, { ...party, number: 1, releases: 0, last_released_at: null })).toBe(true);
    expect(v.is(assetKeyInput, service)).toBe(true);
    expect(v.is(assetKeyInput, { ...service, fingerprint: one })).toBe(true);
  });

  it.each([
    ['the key of a party', { ...party, key: secret }],
    ['no holder', { key: secret }],
    ['another holder', { ...party, held: 'nobody' }],
    ['no key', { held: 'service' }],
    ['a short key', { ...service, key: btoa('k'.repeat(31)) }],
    ['a long key', { ...service, key: btoa('k'.repeat(33)) }],
    ['a key that is no base64', { ...service, key: `${'!'.repeat(43)}=` }],
    ['a fingerprint in upper case', { ...party, fingerprint: 'AB'.repeat(32) }],
    ['a short fingerprint', { ...party, fingerprint: 'ab' }],
    ['a platform whose evidence names no guest', { ...party, release_policy: { ...strictPolicy, platforms: ['snp', 'tdx'] } }],
    ['an unknown member of the policy', { ...party, release_policy: { ...strictPolicy, more: 1 } }],
    ['an unknown field', { ...party, more: 1 }],
  ])('refuses %s', (_what, given) => {
    expect(v.is(assetKeyInput, given)).toBe(false);
  });
});

describe('a run with keys', () => {
  const keysOf = async (id: string, run: string) =>
    await queryPrefix(stores.table, runKeys.partition(id), runKeys.prefixes.assetKeys(run));

  it('keeps the keys as they are when it starts, until it ends', async () => {
    const { id, dataset } = await aSharedComputation(stores, domain);
    await keyAsset(stores.table, domain, dataset, { held: 'service', key: secret });
    await anApproval(stores, domain, id);
    const run = await aRun(stores, domain, id, 'cvm-keys');
    await remove(dataset);
    const kept = parseKeyOfRun(await getItem(stores.table, runKeys.assetKey(id, run, dataset)));
    const { fingerprint } = kept ?? {};
    expect(kept).toEqual({
      asset: dataset,
      creator: 'bob',
      number: 1,
      fingerprint,
      held: 'service',
      release_policy,
      releases: 0,
      key: sealedAs(secret),
    });
    const { assets } = parseSnapshot([await getItem(stores.table, runKeys.snapshot(id, run))]);
    expect(assets.map(({ key }) => key)).toEqual([null, { fingerprint, held: 'service', release_policy }]);
    await endRunWith(stores, domain, run);
    expect(await keysOf(id, run)).toEqual([]);
  });

  it('does not start without a policy that says which CVMs may get a key', async () => {
    const { id, dataset } = await aSharedComputation(stores, domain, 'open');
    await putItem(stores.table, { ...computationKeys.config(id), agent_config: {}, attestation_policy: strictPolicy });
    await keyAsset(stores.table, domain, dataset, { release_policy: null });
    await putItem(stores.table, { ...computationKeys.config(id), agent_config: {} });
    const sentence = 'Nothing says which CVMs may get the key of iris.csv';
    expect((await infoOf(id, 'cvm-none')).join()).toContain(sentence);
    expect(await infoOf(id)).toEqual([expect.stringContaining(sentence)]);
    await expect(aRun(stores, domain, id, 'cvm-none')).rejects.toMatchObject({ extras: { reason: 'no_release_policy' } });
  });

  it.each([
    ['a key that was removed', (id: string) => remove(id), /422|not ready/],
    ['another key', (id: string) => keyAsset(stores.table, domain, id, { fingerprint: other }), undefined],
  ])('never starts with a key that is followed by %s while it starts', async (_what, change, refusal) => {
    const { id, dataset } = await aSharedComputation(stores, domain, 'open');
    await keyAsset(stores.table, domain, dataset);
    betweenReads(stores.mortal, { afterThis: 'Query', beforeThat: 'BatchGet' }, () => change(dataset));
    const start = aRun({ table: stores.mortal, executions: stores.executions }, domain, id, `cvm-${String(refusal)}`);
    if (refusal) return await expect(start).rejects.toThrow(refusal);
    const [kept] = await keysOf(id, await start);
    expect(kept).toMatchObject({ fingerprint: other, number: 2 });
  });

  it(`starts and ends with ${mostKeys} keys, and does not start with more`, async () => {
    const { id } = await aReadyComputation(stores, domain);
    const aKeyedFile = async (index: number) => {
      const asset = await aFile(`${index}.csv`);
      await keyAsset(stores.table, domain, asset);
      return asset;
    };
    const [last, assets] = [await aKeyedFile(0), [] as string[]];
    for (let index = 1; index <= mostKeys; index++) assets.push(await aKeyedFile(index));
    const link = (assetId: string) => linkAsset(stores.table, { domain, assetId, computationId: id, ...byAlice });
    for (const asset of assets) await link(asset);
    const run = await aRun(stores, domain, id, 'cvm-many');
    expect(await keysOf(id, run)).toHaveLength(mostKeys);
    await endRunWith(stores, domain, run);
    expect(await keysOf(id, run)).toEqual([]);
    await link(last);
    expect(await infoOf(id)).toEqual([
      `Fewer keys: a run can have ${mostKeys} files with keys, and this one would have ${mostKeys + 1}`,
    ]);
  });

  it.each([[false], [true]])('leaves nothing of the key of a deleted asset (removed before: %s)', async (isRemoved) => {
    const id = await aFile(`deleted-${isRemoved}.csv`);
    await keyAsset(stores.table, domain, id, { held: 'service', key: secret });
    if (isRemoved) await remove(id);
    await deleteAsset(stores.table, { domain, id, ...byAlice });
    expect(await getItem(stores.table, assetKeys.key(id))).toBeUndefined();
  });
});
