import { GetObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it, vi } from 'vitest';
import { createAsset } from '../../../shared/assets/create-asset.ts';
import { describeAsset } from '../../../shared/assets/describe-asset.ts';
import { readAsset } from '../../../shared/rows/asset.ts';
import { receiveUpload, renewUpload, reportDeletion } from '../../../shared/assets/uploads.ts';
import { type ContentStore, getContent, putContent } from '../../../shared/rows/content-store.ts';
import { collectContent } from '../../../shared/assets/collect-content.ts';
import { startStores } from '../../support/builders-store.ts';
import { scan } from '../../support/inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);

const given_at = '2026-03-12T10:00:00.000Z';
const fields = { file_name: 'a.csv', asset_type: 'dataset' as const, description: '', mime_type: '', user_key: '' };
const open = { content_access: 'creator' as const, use: 'open' as const };
const create = (domain: string) =>
  createAsset(stores.table, stores.content, { domain, ...fields, ...open, by: 'bob', now: given_at });

/** Returns storage that gives back no object, but takes all other requests. */
function brokenStorage({ client, bucket }: ContentStore): ContentStore {
  const send = (command: GetObjectCommand, options: object) =>
    client.send(
      command instanceof GetObjectCommand ? new GetObjectCommand({ ...command.input, Bucket: 'another' }) : command,
      options,
    );
  const get = (target: typeof client, name: keyof typeof client) =>
    (name === 'send' ? send : Reflect.get(target, name)) as unknown;
  return { bucket, client: new Proxy(client, { get: get as ProxyHandler<typeof client>['get'] & {} }) };
}

describe('receiveUpload', () => {
  const later = (hours: number) => new Date(Date.parse(given_at) + hours * 3_600_000).toISOString();
  const aPending = async () => {
    const { table, content } = stores;
    const { id, upload_key, upload } = await create('d2');
    const send = async (to: typeof upload, body: string) =>
      (await fetch(to?.url ?? '', { method: 'PUT', headers: to?.headers ?? {}, body })).status;
    const show = async (by = 'bob') => (await describeAsset(table, content, { domain: 'd2', id, by, now: given_at })).asset;
    expect(await send(upload, 'first')).toBe(200);
    return { table, content, broken: brokenStorage(content), id, first: String(upload_key), send, show };
  };
  const fail = (key: string, now = given_at) =>
    expect(receiveUpload(stores.table, brokenStorage(stores.content), key, now)).rejects.toThrow('bucket');

  it('says why content could not be read, takes another upload at once, and deletes the first when that one has arrived', async () => {
    const { table, content, id, first, send, show } = await aPending();
    await fail(first);
    expect(await show('alice')).not.toHaveProperty('upload');
    const shown = (await show())?.upload;
    expect(shown).toMatchObject({ method: 'PUT', problem: expect.stringContaining('Upload it again.') });
    expect(await send(shown, 'second')).toBe(200);
    const { upload_key: second } = await readAsset(table, 'd2', id);
    for (const key of [second, first]) await receiveUpload(table, content, String(key), given_at);
    expect(await show()).toMatchObject({ state: 'ready', asset: btoa('second'), content_reads: [] });
    expect((await show())?.upload).toBeUndefined();
    expect(await getContent(content, first)).toBeUndefined();

    vi.stubEnv('METRICS_NAMESPACE', 'Test');
    vi.stubEnv('LOG_LEVEL', 'ERROR');
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    for (const key of [first, second]) await reportDeletion(table, String(key));
    const lines = write.mock.calls.map(([line]) => JSON.parse(String(line)) as object);
    write.mockRestore();
    vi.unstubAllEnvs();
    expect(lines).toMatchObject([
      { message: 'The content of an asset was deleted from storage.', domain: 'd2', asset_id: id, key: second },
      { ContentMissing: 1 },
    ]);
  });

  it('takes the first upload if it can be read later, until the content of another one is there', async () => {
    const { table, content, first, send, show } = await aPending();
    await fail(first);
    await fail(first, later(1));
    const other = (await show())?.upload;
    await collectContent(table, content, later(3)); // after its own check was used up
    expect(await show()).toMatchObject({ state: 'ready', asset: btoa('first') });
    await send(other, 'second');
    await collectContent(table, content, later(6));
    expect(await show()).toMatchObject({ state: 'ready', asset: btoa('first') });
  });

  it('never gives the first upload up before another one has arrived, however late the first failure is', async () => {
    const { table, content, broken, first, show } = await aPending();
    const stopped = 48;
    const collect = (hours: number) => collectContent(table, broken, later(stopped + hours));
    await expect(collect(0)).rejects.toThrow('content checks failed');
    expect(await show()).not.toHaveProperty('upload'); // nothing says that anything has arrived
    await fail(first, later(stopped));
    for (const hours of [0, 3, 23, 25, 100]) await expect(collect(hours)).rejects.toThrow('content checks failed');
    await collectContent(table, content, later(stopped + 101));
    expect(await show()).toMatchObject({ state: 'ready', asset: btoa('first') });
  });
});

describe('renewUpload', () => {
  it('returns a link to what the asset awaits now, and none if it has content', async () => {
    const { table, content } = stores;
    const created = await create('d3');
    const upload_key = String(created.upload_key);
    await putContent(content, upload_key, Buffer.from('first'));
    await expect(receiveUpload(table, brokenStorage(content), upload_key, given_at)).rejects.toThrow('bucket');
    const renew = () => renewUpload(table, content, created, { upload_key, given_at }, given_at);
    const url = decodeURIComponent(String((await renew()).upload?.url));
    expect(url).toContain((await readAsset(table, 'd3', created.id)).upload_key);
    expect(url).not.toContain(upload_key);
    await receiveUpload(table, content, upload_key, given_at);
    expect(await renew()).toBe(created);
  });

  it.each([
    ['no', '2026-03-12T11:00:00.000Z', ['2026-03-12T12:00:00.000Z']],
    ['another', '2026-03-12T11:00:00.001Z', ['2026-03-12T12:00:00.000Z', '2026-03-12T13:00:00.001Z']],
  ])('adds %s content check for a link that is renewed at %2$s', async (_count, now, due) => {
    const asset = await create('d1');
    const upload_key = String(asset.upload_key);
    const { upload } = await renewUpload(stores.table, stores.content, asset, { upload_key, given_at }, now);
    expect(upload).toMatchObject({ method: 'PUT', headers: { 'if-none-match': '*' } });
    expect(decodeURIComponent(String(upload?.url))).toContain(upload_key);
    const checks = (await scan(stores.table)).filter((item) => item['content_key'] === upload_key);
    expect(checks.map(({ sk }) => String(sk).split('#')[0]).toSorted()).toEqual(due);
  });
});
