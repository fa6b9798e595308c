import { createHash, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { amount } from '../support/amounts.ts';
import type { BodyOf } from '../support/client.ts';
import { untilTestEnds } from '../support/patience.ts';
import { base64, itAs, newCvm, publicKey, useSession } from '../support/session.ts';

const session = useSession();
const create = 'assets/create-asset';
const get = 'assets/get-asset';
const update = 'assets/update-asset';
const remove = 'assets/delete-asset';
const link = 'assets/link-asset';
const unlink = 'assets/unlink-asset';

const sha3 = (content: string | Uint8Array) => createHash('sha3-256').update(content).digest('hex');
const dataset = (fields: Record<string, unknown>) => ({ asset: { file_name: 'd.csv', asset_type: 'dataset', ...fields } });

async function send(upload: BodyOf<typeof create>['upload'], content: string | Uint8Array<ArrayBuffer>): Promise<number> {
  if (!upload) throw new Error('There is no upload.');
  const { method, url, headers } = upload;
  return (await fetch(url, { method, headers, body: content })).status;
}

async function untilReady(id: string): Promise<BodyOf<typeof get>> {
  await expect.poll(async () => (await session.done(get, { path: { id } })).state).toBe('ready');
  return await session.done(get, { path: { id } });
}

describe('an asset that the agent fetches', () => {
  const source = { type: 'https', url: 'https://files.example.com/d.csv' };

  it('is ready at once without content, and can be replaced by what was answered', async () => {
    const checksum = sha3('a,b');
    const given = { source, kbs: { url: 'https://kbs.example.com' }, decompress: true, checksum, user_key: publicKey() };
    const asset = await session.done(create, { body: dataset(given) });
    const { user_key: _, ...fields } = given;
    expect(asset).toMatchObject({ ...fields, state: 'ready', size: null, algo_type: null, algo_args: null });
    expect([asset.asset, asset.upload, asset.download]).toEqual([undefined, undefined, undefined]);
    const same = await session.done(update, { path: { id: asset.id }, body: { asset: asset as unknown } });
    expect(same).toEqual(asset);
    expect(await session.done(get, { path: { id: asset.id } })).toEqual({ ...asset, content_reads: [] });
    await session.done(remove, { path: { id: asset.id } });
  });

  it('is ready at once without an address too: then a party sends the file, encrypted', async () => {
    const given = {
      source: { kbs_resource_path: 'default/key/d' },
      kbs: { url: 'https://kbs.example.com' },
      checksum: sha3('a,b'),
    };
    const asset = await session.done(create, { body: dataset({ ...given, user_key: publicKey() }) });
    expect(asset).toMatchObject({ ...given, state: 'ready', size: null });
    expect(asset.upload).toBeUndefined();
    expect(await session.done(update, { path: { id: asset.id }, body: { asset: asset as unknown } })).toEqual(asset);
    await session.done(remove, { path: { id: asset.id } });
  });

  const pushed = { source: { kbs_resource_path: 'a/b/c' }, kbs: { url: 'https://kbs.example.com' } };

  it.each([
    ['/asset/source/url', { source: {}, checksum: sha3('a') }],
    ['/asset/source/type', { source: { type: 'https', kbs_resource_path: 'a/b/c' }, checksum: sha3('a') }],
    ['/asset/kbs', { source: { kbs_resource_path: 'a/b/c' }, checksum: sha3('a') }],
    ['/asset/decompress', { ...pushed, decompress: true, checksum: sha3('a') }],
    ['/asset/checksum', pushed],
    ['/asset/checksum', { source }],
    ['/asset/asset', { source, checksum: sha3('a'), asset: base64('a') }],
    ['/asset/kbs', { kbs: { url: 'https://kbs.example.com' } }],
    ['/asset/decompress', { decompress: true }],
    ['/asset/algo_type', { source, checksum: sha3('a'), algo_type: 'bin' }],
    ['/asset/source/type', { source: { ...source, type: 's3' }, checksum: sha3('a') }],
    ['/asset/source/url', { source: { ...source, url: `${source.url}?token=1` }, checksum: sha3('a') }],
  ])('answers 400 at %s to %j', async (pointer, fields) => {
    const { status, body } = await session.call(create, { body: dataset(fields) });
    expect([status, (body as { errors: { pointer: string }[] }).errors.map((error) => error.pointer)]).toEqual([400, [pointer]]);
  });
});

describe('create an asset', () => {
  it('answers 201 with the asset without its content, and its path in Location', async () => {
    const key = publicKey();
    const { status, headers, body } = await session.call(create, {
      body: dataset({ description: 'Flowers', mime_type: 'text/csv', asset: base64('a,b\n'), user_key: key }),
    });
    const { id } = body as { id: string };
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/${session.target.domain}/assets/${id}`);
    expect(body).toEqual({
      id,
      file_name: 'd.csv',
      description: 'Flowers',
      asset_type: 'dataset',
      mime_type: 'text/csv',
      state: 'ready',
      size: 4,
      checksum: sha3('a,b\n'),
      content_access: 'creator',
      use: 'open',
      source: null,
      kbs: null,
      decompress: null,
      algo_type: null,
      algo_args: null,
      created_by: session.target.idOf('administrator'),
      created_at: expect.any(String),
      updated_at: expect.any(String),
      user_key: createPublicKey(Buffer.from(key, 'base64').toString()).export({ format: 'der', type: 'spki' }).toString('base64'),
    });
    expect(await session.done(get, { path: { id } })).toEqual({
      ...(body as object),
      asset: base64('a,b\n'),
      content_reads: [],
    });
  });

  it('answers with an upload when the content is absent, and the asset is pending until the content has arrived', async () => {
    const { id, upload, ...pending } = await session.createAsset({ asset: undefined, file_name: "it's (1) *.csv" });
    expect(pending).toMatchObject({ state: 'pending', size: 0, checksum: null });
    expect(upload).toMatchObject({ method: 'PUT', url: expect.stringMatching(/^http/), expires_at: expect.any(String) });
    expect((await session.done(get, { path: { id } })).asset).toBeUndefined();

    const content = Uint8Array.from(randomBytes(4 * 1024 * 1024 + 1));
    expect(await send(upload, content)).toBe(200);
    const { download, ...ready } = await untilReady(id);
    expect(ready).toMatchObject({ state: 'ready', size: content.length, checksum: sha3(content) });
    expect(ready).not.toHaveProperty('asset');
    const downloaded = await fetch(download?.url ?? '');
    expect(downloaded.headers.get('content-disposition')).toContain("filename*=UTF-8''it%27s%20%281%29%20%2A.csv");
    expect(sha3(Buffer.from(await downloaded.arrayBuffer()))).toBe(ready.checksum);
  });

  it('accepts one upload, and refuses a second one with 412', async () => {
    const { id, upload } = await session.createAsset({ asset: undefined });
    expect(await send(upload, 'first')).toBe(200);
    const ready = await untilReady(id);
    expect(ready).toMatchObject({ asset: base64('first'), checksum: sha3('first') });
    expect(await send(upload, 'second')).toBe(412);
    expect(await session.done(get, { path: { id } })).toEqual(ready);
  });

  it('is the bytes as sent, whatever encoding an upload names', async () => {
    const random = Uint8Array.from(randomBytes(4 * 1024 * 1024 + 1));
    const plain = amount({ sample: random.slice(0, 1_000), full: random });
    const zipped = Uint8Array.from(gzipSync(random, { level: 0 }));
    for (const [encoding, content] of [
      ['gzip', zipped],
      ['gzip', plain],
      ['br', plain],
      ['deflate, gzip', Uint8Array.from(gzipSync('text'))],
      ['nonsense', Uint8Array.from([])],
    ] as const) {
      const { id, upload } = await session.createAsset({ asset: undefined });
      const headers = { ...upload?.headers, 'content-encoding': encoding, 'content-type': 'text/csv; charset=utf-16' };
      expect(await send(upload && { ...upload, headers }, content)).toBe(200);
      const { download, asset, ...ready } = await untilReady(id);
      expect(ready, encoding).toMatchObject({ size: content.length, checksum: sha3(content) });
      if (!download) {
        expect(asset).toBe(Buffer.from(content).toString('base64'));
        continue;
      }
      const parts = [{}, { range: 'bytes=0-999' }, { range: `bytes=1000-` }].map(async (headers) => {
        const answer = await fetch(download.url, { headers: { ...headers, 'accept-encoding': 'gzip, br, deflate' } });
        return Buffer.from(await answer.arrayBuffer());
      });
      const [whole, ...both] = await Promise.all(parts);
      expect([sha3(whole ?? ''), sha3(Buffer.concat(both))]).toEqual([ready.checksum, ready.checksum]);
    }
  });

  it('refuses an upload to a changed URL with 403', async () => {
    const { upload } = await session.createAsset({ asset: undefined });
    expect(upload && (await send({ ...upload, url: upload.url.replace(/X-Amz-Signature=..../, '$&0') }, 'x'))).toBe(403);
  });

  it('keeps the checksum of the real file when a sample is uploaded', async () => {
    const { id, upload, checksum } = await session.createAsset({
      asset: undefined,
      checksum: sha3('the real file').toUpperCase(),
    });
    expect(checksum).toBe(sha3('the real file'));
    await send(upload, 'a sample');
    expect(await untilReady(id)).toMatchObject({ checksum, asset: base64('a sample') });
  });

  it('accepts an empty file', async () => {
    expect(await session.createAsset({ asset: '' })).toMatchObject({ state: 'ready', size: 0, checksum: sha3('') });
  });

  it('accepts and returns 4 MiB of inline content, and answers 413 to one byte more', async () => {
    const most = Buffer.alloc(4 * 1024 * 1024, 'x');
    const { id, checksum } = await session.createAsset({ asset: most.toString('base64') });
    expect(checksum).toBe(sha3(most));
    const { asset = '' } = await session.done(get, { path: { id } });
    expect(Buffer.from(asset, 'base64').equals(most)).toBe(true);
    const over = Buffer.concat([most, Buffer.from('x')]).toString('base64');
    expect(await session.refused(create, { body: dataset({ asset: over }) })).toMatchObject({ status: 413, code: 'too_large' });
  });

  it.each([
    ['no asset', {}, '/asset'],
    ['an array', { asset: [] }, '/asset'],
    ['no file name', { asset: { asset_type: 'dataset' } }, '/asset/file_name'],
    ['no type', { asset: { file_name: 'x' } }, '/asset/asset_type'],
    ['an unknown type', dataset({ asset_type: 'model' }), '/asset/asset_type'],
    ['a path as the file name', dataset({ file_name: '../etc/passwd' }), '/asset/file_name'],
    ['a backslash in the name', dataset({ file_name: 'a\\b' }), '/asset/file_name'],
    ['the name ..', dataset({ file_name: '..' }), '/asset/file_name'],
    ['NUL in the name', dataset({ file_name: 'a\0b' }), '/asset/file_name'],
    ['a name of 256 characters', dataset({ file_name: 'x'.repeat(256) }), '/asset/file_name'],
    ['content that is not base64', dataset({ asset: '%%%' }), '/asset/asset'],
    ['base64 without its padding', dataset({ asset: 'YQ' }), '/asset/asset'],
    ['content that does not match its checksum', dataset({ asset: 'YQ==', checksum: sha3('b') }), '/asset/checksum'],
    ['an invalid checksum', dataset({ checksum: 'abc' }), '/asset/checksum'],
    ['an invalid media type', dataset({ mime_type: 'text' }), '/asset/mime_type'],
    ['an invalid key', dataset({ user_key: base64('ssh-dss AAAA') }), '/asset/user_key'],
    ['an unknown access to the content', dataset({ content_access: 'public' }), '/asset/content_access'],
    ['an unknown field', dataset({ filename: 'x' }), '/asset/filename'],
  ])('answers 400 to %s and points to it', async (_what, body, pointer) => {
    const { status, code, errors } = await session.refused(create, { body });
    expect({ status, code, pointer: errors?.[0]?.pointer }).toEqual({ status: 400, code: 'invalid_request', pointer });
  });

  it('answers 400 to a private key and calls it one', async () => {
    const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const { status, errors } = await session.refused(create, { body: dataset({ asset: '', user_key: base64(pem) }) });
    expect([status, errors?.[0]?.pointer]).toEqual([400, '/asset/user_key']);
    expect(errors?.[0]?.detail).toContain('private key');
  });

  itAs(['algo_provider', 'dataset_provider'], 'answers 403 unless the caller has the role for the type', async () => {
    const statusOf = async (as: 'algo_provider' | 'dataset_provider', asset_type: string) =>
      (await session.call(create, { body: dataset({ asset_type, asset: '' }), as })).status;
    expect(await statusOf('algo_provider', 'algorithm')).toBe(201);
    expect(await statusOf('algo_provider', 'dataset')).toBe(403);
    expect(await statusOf('dataset_provider', 'dataset')).toBe(201);
    expect(await statusOf('dataset_provider', 'algorithm')).toBe(403);
  });
});

describe('read an asset of someone else', () => {
  itAs(['dataset_provider', 'viewer', 'creator'], 'answers without the content unless it is open to the domain', async () => {
    const { id } = await session.createAsset({}, 'dataset_provider');
    const { asset, content_reads, ...rest } = await session.done(get, { path: { id }, as: 'dataset_provider' });
    expect({ asset, content_reads }).toEqual({ asset: base64('a,b\n'), content_reads: [] });
    for (const as of ['administrator', 'viewer', 'creator'] as const) {
      expect(await session.done(get, { path: { id }, as })).toEqual({ ...rest, content_withheld: true });
    }
  });

  itAs(['dataset_provider', 'viewer'], 'gives open content, and lists the reads for its creator', async () => {
    const { id } = await session.createAsset({ content_access: 'domain' }, 'dataset_provider');
    const { asset, ...rest } = await session.done(get, { path: { id }, as: 'viewer' });
    expect(asset).toBe(base64('a,b\n'));
    expect(rest).not.toHaveProperty('content_withheld');
    expect(rest).not.toHaveProperty('content_reads');
    await session.done(get, { path: { id } });
    const { content_reads } = await session.done(get, { path: { id }, as: 'dataset_provider' });
    expect(content_reads?.map(({ user }) => user).sort()).toEqual(
      [session.target.idOf('administrator'), session.target.idOf('viewer')].sort(),
    );
    expect(content_reads?.[0]?.read_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  itAs(['dataset_provider', 'viewer'], 'withholds the download of a large file too, until its creator opens it', async () => {
    const { id, file_name, upload } = await session.createAsset({ asset: undefined }, 'dataset_provider');
    await send(upload, new Uint8Array(4 * 1024 * 1024 + 1));
    await expect.poll(async () => (await session.done(get, { path: { id } })).state).toBe('ready');
    const withheld = await session.done(get, { path: { id }, as: 'viewer' });
    expect(withheld).toMatchObject({ content_withheld: true, size: 4 * 1024 * 1024 + 1 });
    expect(withheld).not.toHaveProperty('download');
    const open = dataset({ file_name, content_access: 'domain' });
    await session.done(update, { path: { id }, body: open, as: 'dataset_provider' });
    expect((await session.done(get, { path: { id }, as: 'viewer' })).download?.url).toMatch(/^http/);
    const { content_reads } = await session.done(get, { path: { id }, as: 'dataset_provider' });
    expect(content_reads).toMatchObject([{ user: session.target.idOf('viewer') }]);
  });
});

describe('list the assets', () => {
  const list = 'assets/list-assets';

  it('answers with pages, newest first, without content and keys, and the exact total', async () => {
    const { total: before } = await session.done(list, {});
    const { user_key: _, ...older } = await session.createAsset({ user_key: publicKey() });
    const { user_key: _key, ...newer } = await session.createAsset();
    const { assets, ...page } = await session.done(list, {});
    expect(page).toEqual({ limit: 10, offset: 0, total: before + 2 });
    expect(assets.slice(0, 2)).toEqual([newer, older]);
    const second = await session.done(list, { query: { limit: 1, offset: 1 } });
    expect(second).toEqual({ assets: [older], limit: 1, offset: 1, total: before + 2 });
  });

  it('filters by asset_type, and answers 400 to an unknown one', async () => {
    const algorithms = { asset_type: 'algorithm', limit: 100 };
    const { total } = await session.done(list, { query: algorithms });
    const { id } = await session.createAsset({ asset_type: 'algorithm' });
    await session.createAsset();
    const found = await session.done(list, { query: algorithms });
    expect(found.total).toBe(total + 1);
    expect(found.assets[0]?.id).toBe(id);
    expect(new Set(found.assets.map(({ asset_type }) => asset_type))).toEqual(new Set(['algorithm']));
    expect((await session.refused(list, { query: { asset_type: 'model' } })).errors?.[0]?.pointer).toBe('query/asset_type');
  });
});

describe('replace an asset', () => {
  it('accepts the asset as it was read with a change, and keeps the content when `asset` is absent', async () => {
    const { id } = await session.createAsset({ asset: base64('kept'), user_key: publicKey(), mime_type: 'text/csv' });
    const read = await session.done(get, { path: { id } });
    const described = await session.done(update, { path: { id }, body: { asset: { ...read, description: 'Changed' } } });
    expect(described).toMatchObject({ description: 'Changed', checksum: read.checksum, user_key: read.user_key });
    const { asset: _, ...rest } = read;
    await session.done(update, { path: { id }, body: { asset: { ...rest, description: 'Again' } } });
    expect(await session.done(get, { path: { id } })).toMatchObject({ description: 'Again', asset: base64('kept') });
  });

  it('keeps `updated_at`, and with it the ETag, if nothing changes', async () => {
    const { id } = await session.createAsset({ asset: base64('same'), user_key: publicKey() });
    const before = await session.call(get, { path: { id } });
    const read = await session.done(get, { path: { id } });
    for (const asset of [read, { ...read, asset: undefined }]) {
      const { body, headers } = await session.call(update, { path: { id }, body: { asset } });
      expect(body).toMatchObject({ updated_at: read.updated_at });
      expect(headers.get('etag')).toBe(before.headers.get('etag'));
    }
  });

  it('accepts a sample with the checksum of the real file, and answers 400 to another checksum', async () => {
    const { id, upload } = await session.createAsset({ asset: undefined, checksum: sha3('the real file') });
    await send(upload, 'a sample');
    const read = await untilReady(id);
    const replace = (fields: Record<string, unknown>) => ({ path: { id }, body: { asset: { ...read, ...fields } } });
    await session.done(update, replace({ description: 'Changed' }));
    const { checksum, asset } = read;
    expect(await session.done(get, { path: { id } })).toMatchObject({ description: 'Changed', checksum, asset });
    const { status, errors } = await session.refused(update, replace({ checksum: sha3('another file') }));
    expect([status, errors?.[0]?.pointer]).toEqual([400, '/asset/checksum']);
  });

  it('keeps the checksum of the real file when the sample is sent back without it', async () => {
    const { id, upload } = await session.createAsset({ asset: undefined, checksum: sha3('the real file') });
    await send(upload, 'a sample');
    const { file_name, asset, updated_at } = await untilReady(id);
    const replaced = await session.done(update, { path: { id }, body: dataset({ file_name, asset }) });
    expect(replaced).toMatchObject({ checksum: sha3('the real file'), size: 'a sample'.length, updated_at });
  });

  it('takes a sample inline, and keeps the checksum of the real file until another one is sent', async () => {
    const { id, file_name } = await session.createAsset({ asset: undefined, checksum: sha3('the real file') });
    const replace = (fields: Record<string, unknown>) =>
      session.done(update, { path: { id }, body: dataset({ file_name, ...fields }) });
    for (const asset of [base64('a sample'), base64('another sample')]) {
      expect(await replace({ asset })).toMatchObject({ state: 'ready', checksum: sha3('the real file') });
      expect(await session.done(get, { path: { id } })).toMatchObject({ checksum: sha3('the real file'), asset });
    }
    const next = { asset: base64('the next real file'), checksum: sha3('the next real file') };
    expect(await replace(next)).toMatchObject({ checksum: next.checksum });
    expect(await replace({ asset: base64('one more') })).toMatchObject({ checksum: sha3('one more') });
  });

  itAs(['dataset_provider'], 'lets an administrator repeat a sample without the checksum of the real file', async () => {
    const fields = { asset: undefined, checksum: sha3('the real file'), content_access: 'domain' };
    const { id, upload } = await session.createAsset(fields, 'dataset_provider');
    await send(upload, 'a sample');
    const { file_name, asset, checksum } = await untilReady(id);
    const body = dataset({ file_name, asset, description: 'By the administrator' });
    expect(await session.done(update, { path: { id }, body })).toMatchObject({ description: 'By the administrator', checksum });
  });

  it('resets absent fields to their defaults, except the content, its access and the key', async () => {
    const given = { description: 'D', mime_type: 'text/csv', user_key: publicKey(), content_access: 'domain' };
    const { id, file_name, user_key } = await session.createAsset(given);
    const replaced = await session.done(update, { path: { id }, body: dataset({ file_name }) });
    expect(replaced).toMatchObject({ file_name, description: '', mime_type: '', state: 'ready', size: 4 });
    expect(replaced).toMatchObject({ user_key, content_access: 'domain' });
    const closed = await session.done(update, {
      path: { id },
      body: dataset({ file_name, user_key: '', content_access: 'creator' }),
    });
    expect(closed).toMatchObject({ user_key: '', content_access: 'creator', size: 4 });
  });

  it('replaces the content and its checksum', async () => {
    const { id } = await session.createAsset({ asset: base64('before') });
    const replaced = await session.done(update, { path: { id }, body: dataset({ asset: base64('after') }) });
    expect(replaced).toMatchObject({ size: 5, checksum: sha3('after') });
    expect((await session.done(get, { path: { id } })).asset).toBe(base64('after'));
  });

  it('answers with the upload again while the content has not arrived', async () => {
    const { id } = await session.createAsset({ asset: undefined });
    const { upload } = await session.done(update, { path: { id }, body: dataset({ description: 'D' }) });
    expect(await send(upload, 'late')).toBe(200);
    expect(await untilReady(id)).toMatchObject({ description: 'D', asset: base64('late') });
  });

  it('renames the asset in the computations that it is linked to', async () => {
    const { id } = await session.createComputation();
    const asset = await session.createAsset({ file_name: 'old.csv' });
    await session.link(asset.id, id);
    await session.done(update, { path: { id: asset.id }, body: dataset({ file_name: 'new.csv' }) });
    const { body } = await session.call('computations/get-computation', { path: { id } });
    expect(body).toMatchObject({ assets: [{ id: asset.id, file_name: 'new.csv', asset_type: 'dataset' }] });
  });

  it('answers 409 when a computation would have two datasets with one name, or two algorithms', async () => {
    const { id } = await session.createComputation();
    const [taken, other] = [await session.createAsset({ file_name: 'taken.csv' }), await session.createAsset()];
    const algorithm = await session.createAsset({ asset_type: 'algorithm' });
    for (const asset of [taken, other, algorithm]) await session.link(asset.id, id);
    const change = (fields: Record<string, unknown>) =>
      session.refused(update, { path: { id: other.id }, body: dataset(fields) });
    expect(await change({ file_name: 'taken.csv' })).toMatchObject({ status: 409, code: 'conflict', reason: 'file_name_taken' });
    expect(await change({ asset_type: 'algorithm' })).toMatchObject({ status: 409, reason: 'second_algorithm' });
  });

  itAs(['dataset_provider', 'editor'], 'is allowed to its creator and administrators only', async () => {
    const { id } = await session.createAsset({}, 'dataset_provider');
    const by = async (as: 'dataset_provider' | 'editor' | 'administrator') =>
      (await session.call(update, { path: { id }, body: dataset({ description: as }), as })).status;
    expect([await by('dataset_provider'), await by('administrator'), await by('editor')]).toEqual([200, 200, 403]);
  });

  itAs(
    ['dataset_provider'],
    'lets administrators change what is not its creator’s, and names what they may not change',
    async () => {
      const { id, file_name } = await session.createAsset({ user_key: publicKey() }, 'dataset_provider');
      const { content_withheld, ...read } = await session.done(get, { path: { id } });
      expect(content_withheld).toBe(true);
      const replace = (fields: Record<string, unknown>) => ({ path: { id }, body: { asset: { ...read, ...fields } } });
      const changed = await session.done(update, replace({ description: 'By the administrator', mime_type: 'text/csv' }));
      const { description, mime_type } = { description: 'By the administrator', mime_type: 'text/csv' };
      expect(changed).toEqual({ ...read, description, mime_type, updated_at: changed.updated_at, content_withheld: true });
      const forbidden = { content_access: 'domain', user_key: publicKey(), checksum: sha3('b'), asset: base64('b') };
      for (const [field, value] of Object.entries(forbidden)) {
        const { status, code, errors, detail } = await session.refused(update, replace({ [field]: value }));
        expect({ field, status, code }).toEqual({ field, status: 403, code: 'forbidden' });
        expect(errors?.map(({ pointer }) => pointer)).toContain(`/asset/${field}`);
        expect(detail).toContain(field);
      }
      expect(await session.done(get, { path: { id }, as: 'dataset_provider' })).toMatchObject({
        file_name,
        description: 'By the administrator',
        asset: base64('a,b\n'),
        content_access: 'creator',
        user_key: read.user_key,
      });
    },
  );

  itAs(['dataset_provider'], 'tells a caller whether the content is withheld, with the ETag that a GET gives', async () => {
    const withheld: unknown[] = [];
    for (const content_access of ['creator', 'domain']) {
      const { id } = await session.createAsset({ content_access }, 'dataset_provider');
      for (const as of ['dataset_provider', 'administrator'] as const) {
        const updated = await session.call(update, { path: { id }, body: dataset({ description: as }), as });
        const read = await session.call(get, { path: { id }, as });
        expect(updated.headers.get('etag')).toBe(read.headers.get('etag'));
        withheld.push([content_access, as, ...[updated, read].map(({ body }) => (body as BodyOf<typeof get>).content_withheld)]);
      }
    }
    expect(withheld).toEqual([
      ['creator', 'dataset_provider', undefined, undefined],
      ['creator', 'administrator', true, true],
      ['domain', 'dataset_provider', undefined, undefined],
      ['domain', 'administrator', undefined, undefined],
    ]);
  });

  itAs(['dataset_provider'], 'answers with the upload of a pending asset to its creator only', async () => {
    const { id, file_name } = await session.createAsset({ asset: undefined }, 'dataset_provider');
    const body = dataset({ file_name });
    expect(await session.done(update, { path: { id }, body })).not.toHaveProperty('upload');
    const { upload } = await session.done(update, { path: { id }, body, as: 'dataset_provider' });
    expect(await send(upload, 'late')).toBe(200);
  });

  itAs(['dataset_provider'], 'answers 403 to making it an algorithm when the caller may provide datasets only', async () => {
    const { id } = await session.createAsset({}, 'dataset_provider');
    const body = dataset({ asset_type: 'algorithm' });
    const { status, code } = await session.refused(update, { path: { id }, body, as: 'dataset_provider' });
    expect({ status, code }).toEqual({ status: 403, code: 'forbidden' });
  });
});

describe('link and unlink', () => {
  it('answer the same when repeated, and write nothing the second time', async () => {
    const { id: computationID } = await session.createComputation();
    const { id } = await session.createAsset();
    const path = { id, computationID };
    const linked = { asset_id: id, computation_id: computationID, linked: true };
    const linksOf = async () => (await session.done('assets/list-linked-computations', { path: { id } })).computations;
    expect(await session.done(link, { path })).toEqual(linked);
    expect(await session.done(link, { path })).toEqual(linked);
    expect((await linksOf()).map((row) => row.id)).toEqual([computationID]);
    expect(await session.done(unlink, { path })).toEqual({ ...linked, linked: false });
    expect(await session.done(unlink, { path })).toEqual({ ...linked, linked: false });
    expect(await linksOf()).toEqual([]);
    const { total } = await session.done('events/list-events', { path: { id: computationID } });
    expect(total).toBe(3); // created, asset_linked, asset_unlinked: repeating wrote nothing
  });

  it('show in the list of an asset’s computations, as rows in pages, newest first', async () => {
    const asset = await session.createAsset();
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      const { id } = await session.createComputation({ name });
      await session.link(asset.id, id);
      ids.unshift(id);
    }
    const list = (query: Record<string, number>) =>
      session.done('assets/list-linked-computations', { path: { id: asset.id }, query });
    const { computations, ...page } = await list({});
    expect(page).toEqual({ limit: 10, offset: 0, total: 3 });
    expect(computations.map((row) => row.id)).toEqual(ids);
    const second = await list({ limit: 1, offset: 1 });
    expect(second).toMatchObject({ computations: [{ id: ids[1], name: 'b', status: 'created' }], limit: 1, offset: 1, total: 3 });
  });

  it('answer 409 to a second algorithm, and to a second dataset with the same name', async () => {
    const { id: computationID } = await session.createComputation();
    const first = {
      algorithm: await session.createAsset({ asset_type: 'algorithm' }),
      data: await session.createAsset({ file_name: 'same' }),
    };
    const second = {
      algorithm: await session.createAsset({ asset_type: 'algorithm' }),
      data: await session.createAsset({ file_name: 'same' }),
    };
    for (const { id } of [first.algorithm, first.data]) await session.link(id, computationID);
    const refused = (id: string) => session.refused(link, { path: { id, computationID } });
    expect(await refused(second.algorithm.id)).toMatchObject({ status: 409, code: 'conflict', reason: 'second_algorithm' });
    expect(await refused(second.data.id)).toMatchObject({ status: 409, code: 'conflict', reason: 'file_name_taken' });
  });

  it('answer 404 when the asset or the computation does not exist', async () => {
    const { id } = await session.createAsset();
    const { id: computationID } = await session.createComputation();
    const absent = '00000000-0001-8c3a-9f0e-2b7d41c5e6a8';
    for (const name of [link, unlink] as const) {
      expect((await session.refused(name, { path: { id, computationID: absent } })).code).toBe('not_found');
      expect((await session.refused(name, { path: { id: absent, computationID } })).code).toBe('not_found');
    }
  });

  it('answer 404 to a PUT on the path of the list of computations, which is the unlink route with no identifier', async () => {
    const { id } = await session.createAsset();
    const { status, code } = await session.refused(unlink, { path: { id, computationID: 'computations' } });
    expect([status, code]).toEqual([404, 'not_found']);
  });

  itAs(
    ['dataset_provider', 'creator', 'editor'],
    'are allowed to the asset’s creator, the computation’s owner and administrators only',
    async () => {
      const { id: computationID } = await session.createComputation({ owner: session.target.idOf('creator') });
      const { id } = await session.createAsset({}, 'dataset_provider');
      const path = { id, computationID };
      for (const as of ['dataset_provider', 'creator'] as const) {
        expect((await session.call(link, { path, as })).status).toBe(200);
        expect((await session.call(unlink, { path, as })).status).toBe(200);
      }
      expect((await session.refused(link, { path, as: 'editor' })).code).toBe('forbidden');
      expect((await session.refused(unlink, { path, as: 'editor' })).code).toBe('forbidden');
    },
  );
});

describe('delete an asset', () => {
  it('answers 204 and removes the asset with its links', async () => {
    const { id: computationID } = await session.createComputation();
    const { id } = await session.createAsset();
    await session.link(id, computationID);
    expect((await session.call(remove, { path: { id } })).status).toBe(204);
    expect((await session.refused(get, { path: { id } })).code).toBe('not_found');
    expect((await session.refused(remove, { path: { id } })).code).toBe('not_found');
    await vi.waitFor(async () => {
      const computation = await session.done('computations/get-computation', { path: { id: computationID } });
      expect(computation).toMatchObject({ assets: [] });
    }, untilTestEnds);
  });

  it('answers 409 while an active run uses the asset, even unlinked', async () => {
    const id = await session.readyComputation();
    const data = await session.createAsset();
    await session.link(data.id, id);
    const cvm = newCvm();
    const run_id = await session.startRun(id, cvm);
    const inUse = { status: 409, code: 'conflict', reason: 'asset_in_use', run_id };
    expect(await session.refused(remove, { path: { id: data.id } })).toMatchObject(inUse);
    await session.done(unlink, { path: { id: data.id, computationID: id } });
    expect(await session.refused(remove, { path: { id: data.id } })).toMatchObject(inUse);
    await session.endRun(cvm);
    expect((await session.call(remove, { path: { id: data.id } })).status).toBe(204);
  });

  it('deletes an asset that was linked after the active run began, also if it is unlinked by then', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    await session.startRun(id, cvm);
    const [linked, unlinked] = [await session.createAsset(), await session.createAsset({ file_name: 'unlinked.csv' })];
    for (const asset of [linked, unlinked]) await session.link(asset.id, id);
    await session.done(unlink, { path: { id: unlinked.id, computationID: id } });
    for (const asset of [linked, unlinked]) expect((await session.call(remove, { path: { id: asset.id } })).status).toBe(204);
    const algorithm = await vi.waitFor(async () => {
      const { assets = [] } = await session.done('computations/get-computation', { path: { id } });
      expect(assets).toHaveLength(1);
      return assets[0];
    }, untilTestEnds);
    expect((await session.refused(remove, { path: { id: algorithm?.id ?? '' } })).reason).toBe('asset_in_use');
    await session.endRun(cvm);
  });

  itAs(['outsider'], 'answers 404 to an asset of another domain, as read, replace and list its computations do', async () => {
    const { id } = await session.createAsset();
    const path = { domainID: session.target.otherDomain, id };
    for (const name of [get, remove, 'assets/list-linked-computations'] as const) {
      expect([name, (await session.refused(name, { path, as: 'outsider' })).code]).toEqual([name, 'not_found']);
    }
    const refused = await session.refused(update, { path, body: dataset({ asset: '' }), as: 'outsider' });
    expect(refused.code).toBe('not_found');
  });
});
