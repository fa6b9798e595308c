import { describe, expect, it } from 'vitest';
import type { Caller } from '../../shared/http/caller.ts';
import { presignUpload } from '../../shared/rows/content-store.ts';
import { createAsset } from '../../shared/assets/create-asset.ts';
import { describeAsset, assetEtag } from '../../shared/assets/describe-asset.ts';
import { readAsset } from '../../shared/rows/asset.ts';
import { receiveUpload } from '../../shared/assets/uploads.ts';
import { defaultAgentConfig } from '../../shared/rows/agent-config.ts';
import { computationEtag, etagsFor, readToDescribe } from '../../shared/computations/describe-computation.ts';
import { fieldsOf, readComputation } from '../../shared/rows/computation.ts';
import { updateComputation } from '../../shared/computations/update-computation.ts';
import { deleteAsset } from '../../shared/assets/delete-asset.ts';
import { deleteComputation } from '../../shared/computations/delete-computation.ts';
import { preconditionFailed } from '../../shared/runtime/errors.ts';
import { parseCondition } from '../../shared/http/etags.ts';
import { linkAsset, unlinkAsset } from '../../shared/assets/link-asset.ts';
import { updateAsset } from '../../shared/assets/update-asset.ts';
import type { Table } from '../../shared/table/table.ts';
import { clockOfTests } from '../support/append-to-journal.ts';
import {
  aComputation,
  aKey,
  allowed,
  anAsset,
  aReadyComputation,
  aRun,
  byAlice,
  endRunWith,
  noKey,
  startStores,
} from '../support/builders-store.ts';
import { beforeTheNextTransaction, betweenReads } from '../support/interleave.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { readDefinition } from '../../shared/rows/definition.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';
const alice: Caller = { id: 'alice', roles: new Set(), actions: new Set(['view', 'edit']) };
const refusal = { code: 'precondition_failed' };

const etagOfRead = ({ row, definition }: Awaited<ReturnType<typeof readToDescribe>>) => computationEtag(alice, row, definition);
const describedEtag = async (id: string) => etagOfRead(await readToDescribe(stores.table, domain, id));
const etagOfAsset = async (id: string) => assetEtag(await readAsset(stores.table, domain, id));
const currentEtags = async (id: string) =>
  etagsFor(alice, await readComputation(stores.table, domain, id), await readDefinition(stores.table, id));

/** Replaces the log level as endpoint 4 does. All replacements are made in the same millisecond. */
function replaceComputation(table: Table, id: string, log_level: 'debug' | 'info', ifMatch = '*') {
  const names = parseCondition('if-match', ifMatch);
  return updateComputation(table, {
    domain,
    seal: noKey,
    id,
    by: 'alice',
    now: clockOfTests,
    decide: (row, definition) => {
      if (!names(...etagsFor(alice, row, definition))) throw preconditionFailed();
      return {
        fields: fieldsOf(row, row),
        attestation_policy: null,
        result_review: null,
        consumers: [],
        providers: [],
        agent_config: { ...defaultAgentConfig, log_level },
        permitted: allowed(),
      };
    },
  });
}

function removeComputation(table: Table, id: string, ifMatch: string) {
  const names = parseCondition('if-match', ifMatch);
  const matchesIfMatch: Parameters<typeof deleteComputation>[1]['matchesIfMatch'] = (row, definition) =>
    names(...etagsFor(alice, row, definition));
  return deleteComputation(table, { domain, id, permit: allowed, matchesIfMatch });
}

const fields = { description: '', mime_type: '', user_key: '' };
const matchesHeader =
  (ifMatch: string): Parameters<typeof deleteAsset>[1]['matchesIfMatch'] =>
  (asset) =>
    parseCondition('if-match', ifMatch)(assetEtag(asset));

function replaceAsset(table: Table, id: string, change: { description?: string; asset?: string }, ifMatch = '*') {
  const given = { ...fields, file_name: 'iris.csv', asset_type: 'dataset' as const, ...change };
  return updateAsset(table, stores.content, { domain, id, given, ...byAlice, matchesIfMatch: matchesHeader(ifMatch) });
}

const removeAsset = (table: Table, id: string, ifMatch: string) =>
  deleteAsset(table, { domain, id, ...byAlice, matchesIfMatch: matchesHeader(ifMatch) });

const aDataset = () => anAsset(stores, domain, { file_name: 'iris.csv', asset_type: 'dataset', asset: btoa('a') });
const link = (assetId: string, computationId: string) => linkAsset(stores.table, { domain, assetId, computationId, ...byAlice });
const unlink = (assetId: string, computationId: string) =>
  unlinkAsset(stores.table, { domain, assetId, computationId, ...byAlice });
const levelOf = async (id: string) => (await readDefinition(stores.table, id)).agent_config.log_level;

/** Changes of a ready computation that its answer shows. */
const visibleChanges: [string, (id: string, algorithm: string) => Promise<unknown>][] = [
  ['its configuration is replaced in the same millisecond', (id) => replaceComputation(stores.table, id, 'debug')],
  ['a dataset is linked', async (id) => link(await aDataset(), id)],
  ['its algorithm is unlinked', (id, algorithm) => unlink(algorithm, id)],
  [
    'a linked asset is renamed',
    (_id, algorithm) => {
      const given = { ...fields, file_name: 'renamed.py', asset_type: 'algorithm' as const };
      return updateAsset(stores.table, stores.content, { domain, id: algorithm, given, ...byAlice });
    },
  ],
  ['a linked asset is deleted', (_id, algorithm) => deleteAsset(stores.table, { domain, id: algorithm, ...byAlice })],
  [
    'a run starts and ends',
    async (id) => endRunWith(stores, domain, await aRun(stores, domain, id, `cvm-of-${id}`), ['Failed', 'Failed']),
  ],
];

describe('a replacement of a computation with If-Match', () => {
  it.each(visibleChanges)('is refused when %s after its ETag was compared', async (_what, change) => {
    const { id, algorithm } = await aReadyComputation(stores, domain);
    const etag = await describedEtag(id);
    beforeTheNextTransaction(stores.mortal, () => change(id, algorithm));
    await expect(replaceComputation(stores.mortal, id, 'info', etag)).rejects.toMatchObject(refusal);
    expect(await levelOf(id)).not.toBe('info');
    expect(await replaceComputation(stores.table, id, 'info', await describedEtag(id))).toHaveProperty('row');
  });

  it.each(visibleChanges)('is refused with the ETag of the row alone when %s', async (_what, change) => {
    const { id, algorithm } = await aReadyComputation(stores, domain);
    const [, peeked = ''] = await currentEtags(id);
    await change(id, algorithm);
    await expect(replaceComputation(stores.table, id, 'info', peeked)).rejects.toMatchObject(refusal);
    expect(await levelOf(id)).not.toBe('info');
  });

  it('is made when only a key is uploaded after its ETag was compared, because its answers show no keys', async () => {
    const id = await aComputation(stores.table, domain);
    const etag = await describedEtag(id);
    beforeTheNextTransaction(stores.mortal, () => aKey(stores.table, domain, id, 'bob'));
    await replaceComputation(stores.mortal, id, 'info', etag);
    expect(await levelOf(id)).toBe('info');
  });

  it('is refused with the ETag of an answer whose configuration is older than its row', async () => {
    const id = await aComputation(stores.table, domain);
    betweenReads(stores.mortal, { afterThis: 'Query', beforeThat: 'Get' }, () => replaceComputation(stores.table, id, 'debug'));
    const torn = await readToDescribe(stores.mortal, domain, id);
    expect(torn).toMatchObject({ row: { version: 2 }, definition: { agent_config: defaultAgentConfig } });
    const etag = etagOfRead(torn);
    expect(await currentEtags(id)).not.toContain(etag);
    await expect(replaceComputation(stores.table, id, 'info', etag)).rejects.toMatchObject(refusal);
    expect(await levelOf(id)).toBe('debug');
  });
});

describe('a deletion of a computation with If-Match', () => {
  it.each(visibleChanges)('is refused when %s after its ETag was compared', async (_what, change) => {
    const { id, algorithm } = await aReadyComputation(stores, domain);
    const etag = await describedEtag(id);
    beforeTheNextTransaction(stores.mortal, () => change(id, algorithm));
    await expect(removeComputation(stores.mortal, id, etag)).rejects.toMatchObject(refusal);
    await removeComputation(stores.mortal, id, await describedEtag(id));
    await expect(readComputation(stores.table, domain, id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is refused with run_active, not for its ETag, when a run starts after the comparison', async () => {
    const { id } = await aReadyComputation(stores, domain);
    const etag = await describedEtag(id);
    beforeTheNextTransaction(stores.mortal, () => aRun(stores, domain, id, `cvm-of-${id}`));
    await expect(removeComputation(stores.mortal, id, etag)).rejects.toMatchObject({ extras: { reason: 'run_active' } });
  });
});

/** Returns the read and write units that a call takes through the mortal table. */
async function unitsOf(act: () => Promise<unknown>): Promise<{ read: number; write: number }> {
  stores.proxy.reset();
  await act();
  return { read: stores.proxy.readUnits(), write: stores.proxy.writeUnits() };
}

describe('the comparison with If-Match', () => {
  it('costs no unit for a replacement, and one query of the definition for the deletion of a computation', async () => {
    const ids = [await aComputation(stores.table, domain), await aComputation(stores.table, domain)];
    const [plain = '', compared = ''] = ids;
    const etag = await describedEtag(compared);
    const replaced = await unitsOf(() => replaceComputation(stores.mortal, plain, 'info'));
    expect(await unitsOf(() => replaceComputation(stores.mortal, compared, 'info', etag))).toEqual(replaced);
    const next = await describedEtag(compared);
    const removed = await unitsOf(() => deleteComputation(stores.mortal, { domain, id: plain, permit: allowed }));
    const query = await unitsOf(() => readDefinition(stores.mortal, compared));
    expect(await unitsOf(() => removeComputation(stores.mortal, compared, next))).toEqual({
      ...removed,
      read: removed.read + query.read,
    });
  });

  it('costs no unit for a replacement and a deletion of an asset', async () => {
    const [plain, compared] = [await aDataset(), await aDataset()];
    const given = { ...fields, file_name: 'iris.csv', asset_type: 'dataset' as const };
    const replaced = await unitsOf(() => updateAsset(stores.mortal, stores.content, { domain, id: plain, given, ...byAlice }));
    const etag = await etagOfAsset(compared);
    expect(await unitsOf(() => replaceAsset(stores.mortal, compared, {}, etag))).toEqual(replaced);
    const next = await etagOfAsset(compared);
    const removed = await unitsOf(() => deleteAsset(stores.mortal, { domain, id: plain, ...byAlice }));
    expect(await unitsOf(() => removeAsset(stores.mortal, compared, next))).toEqual(removed);
  });
});

/** Changes of a dataset that its answer shows. */
const visibleAssetChanges: [string, (id: string) => Promise<unknown>][] = [
  ['a field is replaced in the same millisecond', (id) => replaceAsset(stores.table, id, { description: 'theirs' })],
  ['its content is replaced by content of the same size', (id) => replaceAsset(stores.table, id, { asset: btoa('b') })],
];

describe('a replacement of an asset with If-Match', () => {
  it.each(visibleAssetChanges)('is refused when %s after its ETag was compared', async (_what, change) => {
    const id = await aDataset();
    const etag = await etagOfAsset(id);
    beforeTheNextTransaction(stores.mortal, () => change(id));
    await expect(replaceAsset(stores.mortal, id, { description: 'mine' }, etag)).rejects.toMatchObject(refusal);
    expect(await readAsset(stores.table, domain, id)).not.toMatchObject({ description: 'mine' });
    await replaceAsset(stores.table, id, { description: 'mine' }, await etagOfAsset(id));
    expect(await readAsset(stores.table, domain, id)).toMatchObject({ description: 'mine' });
  });

  it('is refused when the content of a new asset arrives after its ETag was compared', async () => {
    const created = await createAsset(stores.table, stores.content, {
      domain,
      ...fields,
      file_name: 'iris.csv',
      asset_type: 'dataset',
      content_access: 'creator',
      use: 'open',
      by: 'alice',
      now: clockOfTests,
    });
    const key = created.upload_key ?? '';
    beforeTheNextTransaction(stores.mortal, async () => {
      const { method, url, headers } = await presignUpload(stores.content, key, new Date().toISOString());
      expect((await fetch(url, { method, headers, body: 'a' })).status).toBe(200);
      await receiveUpload(stores.table, stores.content, key, clockOfTests);
    });
    const replacement = replaceAsset(stores.mortal, created.id, { description: 'mine' }, assetEtag(created));
    await expect(replacement).rejects.toMatchObject(refusal);
    expect(await readAsset(stores.table, domain, created.id)).toMatchObject({ state: 'ready', description: '' });
  });

  it('is refused with linked_too_widely, not for its ETag, when it renames an asset that is linked to 31 computations', async () => {
    const id = await anAsset(stores, domain, { file_name: 'wide.csv', asset_type: 'dataset', asset: btoa('a') });
    for (let count = 0; count < 31; count++) await link(id, await aComputation(stores.table, domain));
    const renaming = replaceAsset(stores.table, id, {}, '"of-an-earlier-state"');
    await expect(renaming).rejects.toMatchObject({ extras: { reason: 'linked_too_widely' } });
  });

  it('is refused for its ETag, not for a place in a computation that was deleted', async () => {
    const computation = await aComputation(stores.table, domain);
    const id = await anAsset(stores, domain, { file_name: 'old.csv', asset_type: 'dataset', asset: btoa('a') });
    for (const assetId of [id, await aDataset()]) await link(assetId, computation);
    const rename = () => replaceAsset(stores.table, id, {}, '"of-an-earlier-state"');
    await expect(rename()).rejects.toMatchObject({ extras: { reason: 'file_name_taken' } });
    await deleteComputation(stores.table, { domain, id: computation, permit: allowed });
    await expect(rename()).rejects.toMatchObject(refusal);
  });

  it('is made when the asset is only linked after its ETag was compared', async () => {
    const [id, computation] = [await aDataset(), await aComputation(stores.table, domain)];
    const etag = await etagOfAsset(id);
    beforeTheNextTransaction(stores.mortal, () => link(id, computation));
    const { asset } = await replaceAsset(stores.mortal, id, { description: 'mine' }, etag);
    expect(await etagOfAsset(id)).toBe(assetEtag(asset));
  });

  it('is made with an ETag that shows fewer reads of the content, also when someone reads it after the comparison', async () => {
    const opened = { file_name: 'iris.csv', asset_type: 'dataset' as const, asset: btoa('a'), content_access: 'domain' as const };
    const id = await anAsset(stores, domain, opened);
    const readBy = (by: string) => describeAsset(stores.table, stores.content, { domain, id, by, now: clockOfTests });
    await readBy('bob');
    const { etag } = await readBy('alice');
    await readBy('bob');
    expect((await readBy('alice')).etag).not.toBe(etag);
    beforeTheNextTransaction(stores.mortal, () => readBy('carol'));
    await replaceAsset(stores.mortal, id, { description: 'mine' }, etag);
    expect((await readBy('alice')).asset).toMatchObject({ description: 'mine', content_reads: [{}, {}, {}] });
    await expect(replaceAsset(stores.table, id, { description: 'again' }, etag)).rejects.toMatchObject(refusal);
  });
});

describe('a deletion of an asset with If-Match', () => {
  it.each(visibleAssetChanges)('is refused when %s after its ETag was compared', async (_what, change) => {
    const id = await aDataset();
    const etag = await etagOfAsset(id);
    beforeTheNextTransaction(stores.mortal, () => change(id));
    await expect(removeAsset(stores.mortal, id, etag)).rejects.toMatchObject(refusal);
    await removeAsset(stores.mortal, id, await etagOfAsset(id));
    await expect(readAsset(stores.table, domain, id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is refused with asset_in_use, not for its ETag, when a run that uses it starts after the comparison', async () => {
    const { id, algorithm } = await aReadyComputation(stores, domain);
    const etag = await etagOfAsset(algorithm);
    beforeTheNextTransaction(stores.mortal, () => aRun(stores, domain, id, `cvm-of-${id}`));
    await expect(removeAsset(stores.mortal, algorithm, etag)).rejects.toMatchObject({ extras: { reason: 'asset_in_use' } });
  });
});
