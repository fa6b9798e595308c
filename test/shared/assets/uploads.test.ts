import { describe, expect, it, vi } from 'vitest';
import { createAsset } from '../../../shared/assets/create-asset.ts';
import { describeAsset } from '../../../shared/assets/describe-asset.ts';
import { readAsset } from '../../../shared/assets/read-asset.ts';
import { receiveUpload, renewUpload, reportDeletion } from '../../../shared/assets/uploads.ts';
import * as v from 'valibot';
import { assetSchema } from '../../../shared/assets/asset.ts';
import { asset as sample } from '../../../shared/openapi/examples.ts';
import { getContent, uploadKey } from '../../../shared/assets/content-store.ts';
import { startStores } from '../../support/builders-store.ts';
import { scan } from '../../support/inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);

const asset = v.parse(assetSchema, sample);
const given_at = '2026-03-12T10:00:00.000Z';

describe('receiveUpload', () => {
  it('takes content that can be read again, says why it could not be, and takes another upload after the last attempt', async () => {
    const { table, content } = stores;
    const fields = { description: '', mime_type: '', user_key: '', content_access: 'creator' as const, use: 'open' as const };
    const given = { domain: 'd2', ...fields, file_name: 'a.csv', asset_type: 'dataset' as const };
    const { id, upload_key, upload } = await createAsset(table, content, { ...given, createdBy: 'bob', now: given_at });
    const send = (to: typeof upload, body: string) => fetch(to?.url ?? '', { method: 'PUT', headers: to?.headers ?? {}, body });
    const show = async (by: string) => (await describeAsset(table, content, { domain: 'd2', id, by, now: given_at })).asset;
    await send(upload, 'first');
    const broken = { ...content, bucket: 'another' };
    await expect(receiveUpload(table, broken, String(upload_key), given_at)).rejects.toThrow('bucket');
    expect(await show('alice')).not.toHaveProperty('upload');
    expect((await show('bob'))?.upload?.problem).toContain('The service tries again.');
    expect((await readAsset(table, 'd2', id)).upload_key).toBe(upload_key);
    await expect(receiveUpload(table, broken, String(upload_key), given_at, { isLast: true })).rejects.toThrow('bucket');
    const shown = (await show('bob'))?.upload;
    expect(shown).toMatchObject({ method: 'PUT', problem: expect.stringContaining('Upload it again.') });

    await send(shown, 'second');
    const { upload_key: next } = await readAsset(table, 'd2', id);
    for (const key of [upload_key, next]) await receiveUpload(table, content, String(key), given_at);
    expect(await show('bob')).toMatchObject({ state: 'ready', asset: btoa('second'), content_reads: [] });
    expect((await show('bob'))?.upload).toBeUndefined();
    expect(await getContent(content, String(upload_key))).toBeUndefined();

    vi.stubEnv('METRICS_NAMESPACE', 'Test');
    vi.stubEnv('LOG_LEVEL', 'ERROR');
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    for (const key of [upload_key, next]) await reportDeletion(table, String(key));
    const lines = write.mock.calls.map(([line]) => JSON.parse(String(line)) as object);
    write.mockRestore();
    vi.unstubAllEnvs();
    expect(lines).toMatchObject([
      { message: 'The content of an asset was deleted from storage.', domain: 'd2', asset_id: id, key: next },
      { ContentMissing: 1 },
    ]);
  });
});

describe('renewUpload', () => {
  it.each([
    ['no', '2026-03-12T11:00:00.000Z', []],
    ['another', '2026-03-12T11:00:00.001Z', ['2026-03-12T13:00:00.001Z']],
  ])('adds %s content check for a link that is renewed at %2$s', async (_count, now, due) => {
    const upload_key = uploadKey('d1', `asset-of-${now}`);
    const { upload } = await renewUpload(stores.table, stores.content, asset, { upload_key, given_at }, now);
    expect(upload).toMatchObject({ method: 'PUT', headers: { 'if-none-match': '*' } });
    expect(decodeURIComponent(String(upload?.url))).toContain(upload_key);
    const checks = (await scan(stores.table)).filter((item) => item['content_key'] === upload_key);
    expect(checks.map(({ sk }) => String(sk).split('#')[0])).toEqual(due);
  });
});
