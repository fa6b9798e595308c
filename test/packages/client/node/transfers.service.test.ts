import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { appendFileSync, linkSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Stack, startStack } from '../../../../local/stack.ts';
import { type Client, createClient } from '../../../../packages/client/calls/create-client.ts';
import { downloadAsset } from '../../../../packages/client/node/download-asset.ts';
import type { TransferProgress } from '../../../../packages/client/node/send-content.ts';
import { uploadAsset, uploadContent, type UploadContentOptions } from '../../../../packages/client/node/upload-asset.ts';
import { startAnsweringServer, status } from '../../../support/answering-server.ts';
import { type CuttingProxy, startCuttingProxy } from '../../../support/cutting-proxy.ts';

const folder = mkdtempSync(join(tmpdir(), 'transfers-'));
const large = randomBytes(6 * 1024 * 1024); // above what comes with an answer
let stack: Stack;
let proxy: CuttingProxy;
let client: Client;

beforeAll(async () => {
  stack = await startStack({
    port: 0,
    simulator: false,
    intercept: async (endpoints) => {
      proxy = await startCuttingProxy(endpoints.s3);
      return { ...endpoints, s3: proxy.endpoint };
    },
  });
  client = createClient({ baseUrl: stack.baseUrl, domain: 'd1', token: await stack.token('alice', ['d1:administrator']) });
});
afterAll(async () => {
  await stack.stop();
  proxy.stop();
  rmSync(folder, { recursive: true });
});

function fileOf(name: string, content: Buffer | string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

/** Returns a client to whom the service names another storage for downloads. */
async function clientOfStorage(url: string): Promise<Client> {
  return createClient({
    baseUrl: stack.baseUrl,
    domain: 'd1',
    token: await stack.token('alice', ['d1:administrator']),
    fetch: async (request) => {
      const response = await fetch(request);
      const asset = (await response.json()) as { download: object };
      return Response.json({ ...asset, download: { ...asset.download, url } });
    },
  });
}

const sha3 = (content: Buffer) => createHash('sha3-256').update(content).digest('hex');

describe('uploadAsset and downloadAsset', () => {
  it('transfer a small file with the request itself', async () => {
    const file = fileOf('small.csv', 'a,b\n1,2\n');
    const asset = await uploadAsset(client, { file, asset_type: 'dataset', mime_type: 'text/csv' });
    expect(asset).toMatchObject({ file_name: 'small.csv', state: 'ready', size: 8, mime_type: 'text/csv' });
    const copy = join(folder, 'copy.csv');
    await downloadAsset(client, { id: asset.id, file: copy });
    expect(readFileSync(copy, 'utf8')).toBe('a,b\n1,2\n');
  });

  it.each<[string, (file: string) => void]>([
    ['cut short', (file) => truncateSync(file, 2 * 1024 * 1024)],
    ['written to', (file) => appendFileSync(file, 'more')],
    ['replaced', (file) => writeFileSync(file, 'less')],
  ])('end at once when the file is %s while it is sent', async (_, change) => {
    const file = fileOf('changing.bin', large);
    const cuts: unknown[] = [];
    const onProgress = ({ phase, done }: TransferProgress) => {
      if (phase === 'sending' && done > 0 && done < 1024 * 1024) change(file);
    };
    await expect(
      uploadAsset(client, { file, asset_type: 'dataset', onProgress, onCut: (cut) => cuts.push(cut) }),
    ).rejects.toThrow('changing.bin changed while it was read.');
    expect(cuts).toEqual([]);
  });

  it('save a name of 255 bytes', async () => {
    const name = `${'ä'.repeat(125)}x.csv`;
    const { id } = await uploadAsset(client, { file: fileOf('small.csv', 'a\n1\n'), file_name: name, asset_type: 'dataset' });
    await downloadAsset(client, { id, file: join(folder, name) });
    expect(readFileSync(join(folder, name), 'utf8')).toBe('a\n1\n');
  });

  it('transfer a large file, although both ways are cut off in the middle', async () => {
    const file = fileOf('large.bin', large);
    const cuts: string[] = [];
    const progress: TransferProgress[] = [];
    proxy.cutAfter(2 * 1024 * 1024, 'up');
    const asset = await uploadAsset(client, {
      file,
      asset_type: 'dataset',
      onCut: ({ failures }) => void cuts.push(`up ${failures}`),
      onProgress: (each) => void progress.push(each),
    });
    expect(asset).toMatchObject({ state: 'ready', size: large.length, checksum: sha3(large) });
    const sizes = { done: large.length, total: large.length };
    expect(progress).toEqual(
      expect.arrayContaining([
        { phase: 'hashing', ...sizes },
        { phase: 'sending', ...sizes },
        { phase: 'waiting', ...sizes },
      ]),
    );

    const copy = join(folder, 'copy.bin');
    const received: number[] = [];
    proxy.cutAfter(2 * 1024 * 1024, 'down');
    await downloadAsset(client, {
      id: asset.id,
      file: copy,
      onCut: ({ failures }) => void cuts.push(`down ${failures}`),
      onProgress: ({ done }) => void received.push(done),
    });
    expect(cuts).toEqual(['up 1', 'down 1']);
    expect(readFileSync(copy).equals(large)).toBe(true);
    expect(received).toEqual(received.toSorted((a, b) => a - b)); // it goes on where it was
  });

  it('refuse a file above 5 GiB before they read it', async () => {
    const file = fileOf('huge.bin', '');
    truncateSync(file, 5 * 1024 ** 3 + 1);
    const onProgress = vi.fn();
    await expect(uploadAsset(client, { file, asset_type: 'dataset', onProgress })).rejects.toMatchObject({
      code: 'too_large',
      detail: 'huge.bin has 5368709121 bytes. An asset has at most 5 GiB.',
    });
    expect(onProgress).not.toHaveBeenCalled();
  });

  it('create one asset for an upload that is repeated', async () => {
    const file = fileOf('repeated.bin', large.subarray(0, 1024 * 1024));
    const ending = new AbortController();
    const onProgress = ({ phase, done }: TransferProgress) => {
      if (phase === 'sending' && done > 0) ending.abort(new Error('killed'));
    };
    const killed = uploadAsset(client, { file, asset_type: 'dataset', onProgress, signal: ending.signal });
    await expect(killed).rejects.toThrow();
    const first = await uploadAsset(client, { file, asset_type: 'dataset' });
    const second = await uploadAsset(client, { asset_type: 'dataset', file });
    expect(second.id).toBe(first.id);
    const { assets } = await client.listAssets({ limit: 100 });
    expect(assets.filter(({ file_name }) => file_name === 'repeated.bin')).toHaveLength(1);
    await client.deleteAsset({ id: first.id });
    const third = await uploadAsset(client, { file, asset_type: 'dataset' });
    expect(third).toMatchObject({ state: 'ready', checksum: first.checksum });
    expect((await uploadAsset(client, { file, asset_type: 'dataset' })).id).toBe(third.id);
    await client.deleteAsset({ id: third.id });
    const own = { file, asset_type: 'dataset', idempotencyKey: randomUUID() } as const;
    const fourth = await uploadAsset(client, own);
    await client.deleteAsset({ id: fourth.id });
    const fifth = await uploadAsset(client, own);
    expect((await uploadAsset(client, own)).id).toBe(fifth.id);
    await client.deleteAsset({ id: fifth.id });
  });

  it('send with the request only what a slow line carries within its time', async () => {
    const sent: number[] = [];
    const counting = createClient({
      baseUrl: stack.baseUrl,
      domain: 'd1',
      token: await stack.token('alice', ['d1:administrator']),
      fetch: async (request) => {
        if (request.method === 'POST') sent.push((await request.clone().arrayBuffer()).byteLength);
        return await fetch(request);
      },
    });
    for (const size of [512 * 1024, 512 * 1024 + 1]) {
      const file = fileOf('slow.bin', large.subarray(0, size));
      expect(await uploadAsset(counting, { file, asset_type: 'dataset' })).toMatchObject({ state: 'ready', size });
    }
    const [inline = 0, straight = 0] = sent;
    expect(inline).toBeGreaterThan(512 * 1024);
    expect((inline * 8) / 128_000).toBeLessThan(60);
    expect(straight).toBeLessThan(1_000);
  });

  it.each(['four.bin', 'four.csv'])('create one asset for %s, in whatever order its fields are given', async (name) => {
    const file = fileOf(name, name.endsWith('.bin') ? large.subarray(0, 1024 * 1024) : 'a\n');
    const withoutValue: object = { description: undefined };
    const first = await uploadAsset(client, { file, asset_type: 'dataset', use: 'approval', ...withoutValue });
    const second = await uploadAsset(client, { use: 'approval', asset_type: 'dataset', file });
    expect(second.id).toBe(first.id);
  });

  it('fill an asset that waits for its content, once, and keep the checksum that it has', async () => {
    const pending = async (fields: object) => {
      const body = { asset: { file_name: 'late.csv', asset_type: 'dataset', mime_type: 'text/csv', ...fields } } as const;
      return (await client.createAsset({ body })).id;
    };
    const file = fileOf('late.csv', 'a,b\n1,2\n');
    const id = await pending({});
    const filled = await uploadContent(client, { id, file });
    expect(filled).toMatchObject({ id, state: 'ready', size: 8, mime_type: 'text/csv' });
    expect(await uploadContent(client, { id, file })).toMatchObject({ id, checksum: filled.checksum });
    await expect(uploadContent(client, { id, file: fileOf('other.csv', 'c\n') })).rejects.toMatchObject({ code: 'conflict' });

    const ofTheRealFile = 'ab'.repeat(32);
    const onOtherHash = vi.fn<NonNullable<UploadContentOptions['onOtherHash']>>();
    const sample = { id: await pending({ checksum: ofTheRealFile }), file, onOtherHash };
    expect(await uploadContent(client, sample)).toMatchObject({ state: 'ready', checksum: ofTheRealFile });
    expect(onOtherHash.mock.calls).toEqual([[{ named: ofTheRealFile, found: filled.checksum }]]);
    await expect(uploadContent(client, sample)).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringMatching(`${ofTheRealFile}.*${filled.checksum}.*sent this file before as a sample, it has arrived`),
    });
    expect(onOtherHash).toHaveBeenCalledOnce();
    await expect(downloadAsset(client, { id: sample.id, file: join(folder, 'sample.csv') })).rejects.toMatchObject({
      code: 'unexpected',
      detail: expect.stringContaining('The content may be a sample'),
    });

    const empty = fileOf('empty.csv', '');
    expect(await uploadContent(client, { id: await pending({}), file: empty })).toMatchObject({ state: 'ready', size: 0 });
    const emptySample = { id: await pending({ checksum: ofTheRealFile }), file: empty };
    expect(await uploadContent(client, emptySample)).toMatchObject({ size: 0, checksum: ofTheRealFile });
  });

  it("do not fill another user's asset", async () => {
    const { id } = await client.createAsset({ body: { asset: { file_name: 'hers.csv', asset_type: 'dataset' } } });
    const file = fileOf('hers.csv', 'a\n');
    for (const role of ['administrator', 'viewer']) {
      const token = await stack.token('bob', [`d1:${role}`]);
      const bob = createClient({ baseUrl: stack.baseUrl, domain: 'd1', token });
      await expect(uploadContent(bob, { id, file })).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  it('go on with a download that an earlier call left, and begin anew after a wrong one', async () => {
    const content = large.subarray(0, 5 * 1024 * 1024);
    const { id } = await uploadAsset(client, { file: fileOf('kept.bin', content), asset_type: 'dataset' });
    for (const left of [content.subarray(0, 4 * 1024 * 1024), randomBytes(1_000), Buffer.alloc(0)]) {
      const copy = join(folder, 'kept-copy.bin');
      writeFileSync(`${copy}.${id.slice(-12)}.part`, left);
      const [hashed, received]: [number[], number[]] = [[], []];
      const onProgress = ({ phase, done }: TransferProgress) => void (phase === 'hashing' ? hashed : received).push(done);
      await downloadAsset(client, { id, file: copy, onProgress });
      expect([hashed.at(-1) ?? 0, received[0]]).toEqual([left.length, left.length]);
      expect(readFileSync(copy).equals(content)).toBe(true);
    }
  });

  it('receive nothing after the signal while they hash what an earlier call left', async () => {
    const content = large.subarray(0, 5 * 1024 * 1024);
    const { id } = await uploadAsset(client, { file: fileOf('ended.bin', content), asset_type: 'dataset' });
    const copy = join(folder, 'ended-copy.bin');
    writeFileSync(`${copy}.${id.slice(-12)}.part`, content.subarray(0, 4 * 1024 * 1024));
    const ending = new AbortController();
    const phases = new Set<string>();
    const onProgress = ({ phase }: TransferProgress) => {
      phases.add(phase);
      ending.abort(new Error('enough'));
    };
    await expect(downloadAsset(client, { id, file: copy, onProgress, signal: ending.signal })).rejects.toThrow();
    expect([...phases]).toEqual(['hashing']);
  });

  it('refuse a name that no file can have before they ask the service', async () => {
    const unasked = createClient({ baseUrl: stack.baseUrl, domain: 'd1', fetch: () => expect.unreachable('It asked.') });
    for (const file of [folder, join(folder, 'none/'), '/dev/null']) {
      await expect(downloadAsset(unasked, { id: randomUUID(), file })).rejects.toMatchObject({ code: 'EISDIR' });
    }
  });

  it('write small content to a file of its own first, which takes the place of the other one', async () => {
    const { id } = await uploadAsset(client, { file: fileOf('small.csv', 'new'), asset_type: 'dataset' });
    const copy = fileOf('small-copy.csv', 'old');
    const kept = join(folder, 'small-kept.csv');
    linkSync(copy, kept);
    await downloadAsset(client, { id, file: copy });
    expect([readFileSync(copy, 'utf8'), readFileSync(kept, 'utf8')]).toEqual(['new', 'old']);
    await expect(downloadAsset(client, { id, file: copy, mustBeNew: true })).rejects.toMatchObject({ code: 'EEXIST' });
  });

  it('go on with a download whose connection is silent for a minute, but not closed', async () => {
    const content = large.subarray(0, 5 * 1024 * 1024);
    const { id } = await uploadAsset(client, { file: fileOf('silent.bin', content), asset_type: 'dataset' });
    const half = content.length / 2;
    const storage = await startAnsweringServer();
    storage.answerWith(({ headers: { range } }, response) => {
      response.writeHead(206);
      if (range === 'bytes=0-') response.write(content.subarray(0, half));
      else if (range === `bytes=${half}-`) response.end(content.subarray(half));
    });
    const cuts: string[] = [];
    onTestFinished(() => void vi.useRealTimers());
    const copy = join(folder, 'silent-copy.bin');
    await downloadAsset(await clientOfStorage(storage.endpoint), {
      id,
      file: copy,
      onProgress: ({ done }) => {
        if (done === 0) vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
        if (done === half) vi.advanceTimersByTime(60_000);
      },
      onCut: ({ error }) => {
        cuts.push(error.message);
        vi.useRealTimers();
      },
    });
    expect(cuts).toEqual(['Nothing was transferred for a minute']);
    expect(readFileSync(copy).equals(content)).toBe(true);
    await storage.stop();
  });

  it('get a new link for an expired one, and end if storage refuses that as well', async () => {
    const { id } = await uploadAsset(client, { file: fileOf('refused.bin', large), asset_type: 'dataset' });
    const storage = await startAnsweringServer();
    storage.answerWith(status(403));
    const refusing = await clientOfStorage(storage.endpoint);
    const refused = { status: 403, code: 'unexpected', detail: 'Storage refused with the status 403.' };
    await expect(downloadAsset(refusing, { id, file: join(folder, 'no.bin') })).rejects.toMatchObject(refused);
    expect(storage.received).toEqual(['GET', 'GET']);
    await storage.stop();
  });

  it('refuse what others withhold, and what has not arrived', async () => {
    const { id } = await uploadAsset(client, { file: fileOf('mine.bin', 'mine'), asset_type: 'dataset' });
    const bob = createClient({ baseUrl: stack.baseUrl, domain: 'd1', token: await stack.token('bob', ['d1:viewer']) });
    const file = join(folder, 'none.bin');
    const withheld = { status: 403, code: 'forbidden', detail: 'Only alice gets the content of mine.bin.' };
    await expect(downloadAsset(bob, { id, file })).rejects.toMatchObject(withheld);
    const pending = await client.createAsset({ body: { asset: { file_name: 'late.bin', asset_type: 'dataset' } } });
    await expect(downloadAsset(client, { id: pending.id, file })).rejects.toMatchObject({ code: 'not_found' });
  });
});
