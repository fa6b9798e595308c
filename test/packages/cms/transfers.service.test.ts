import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'computation-management-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../../../local/stack.ts';
import { type CuttingProxy, startCuttingProxy } from '../../support/cutting-proxy.ts';
import { cmsIn } from './fake-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-'));
const content = randomBytes(12 * 1024 * 1024);
const checksum = createHash('sha3-256').update(content).digest('hex');
const file = join(folder, 'large.bin');
let stack: Stack;
let proxy: CuttingProxy;
let cms: ReturnType<typeof cmsIn>;

beforeAll(async () => {
  writeFileSync(file, content);
  stack = await startStack({
    port: 0,
    simulator: false,
    intercept: async (endpoints) => {
      proxy = await startCuttingProxy(endpoints.s3);
      return { ...endpoints, s3: proxy.endpoint };
    },
  });
  cms = cmsIn(folder, { env: { CMS_SERVER: stack.baseUrl } });
  await cms('login', '--local');
});
afterAll(async () => {
  await stack.stop();
  proxy.stop();
  rmSync(folder, { recursive: true });
});

describe('cms asset', () => {
  it('sends a file again that was cut off in the middle, reports the retry, and ends with the right hash', async () => {
    proxy.cutAfter(5 * 1024 * 1024, 'up');
    const { exitCode, stdout, stderr } = await cms('asset', 'upload', '--type', 'dataset', file);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/The transfer of large\.bin was cut off after \d.* MiB of 12\.0 MiB: .*\. Sending it again\.\n/);
    expect(stdout).toContain(`SHA3-256 ${checksum}`);
  });

  it('prints the command to type again when it was interrupted', async () => {
    const ending = new AbortController();
    const interrupted = cmsIn(folder, { env: { CMS_SERVER: stack.baseUrl }, signal: ending.signal, showsProgress: false });
    ending.abort();
    expect(await interrupted('asset', 'upload', '--type', 'dataset', file, '--name', 'another name')).toMatchObject({
      exitCode: 130,
      stderr: `Interrupted. another name was still being hashed: nothing of it was sent.\nNext: cms asset upload --type dataset ${file} --name 'another name'\n`,
    });
  });

  it('uploads nothing again when an upload is repeated', async () => {
    const again = await cms('asset', 'upload', '--type', 'dataset', file, '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ items: [{ state: 'ready', checksum, file_name: 'large.bin' }] });
    const list = await cms('asset', 'list', '--json');
    expect(JSON.parse(list.stdout)).toMatchObject({ total: 1 });
  });

  it('goes on with a download that was cut off, and checks its hash', async () => {
    const { items } = JSON.parse((await cms('asset', 'list', '--json')).stdout) as { items: [{ id: string }] };
    const copy = join(folder, 'copy.bin');
    proxy.cutAfter(5 * 1024 * 1024, 'down');
    const { exitCode, stderr } = await cms('asset', 'download', items[0].id, '--output', copy);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/was cut off after .* Resuming\./);
    expect(readFileSync(copy).equals(content)).toBe(true);
  });

  it("shows another user's asset without reading its content, and reads it once to download it", async () => {
    const bob = cmsIn(join(folder, 'bob'), { env: { CMS_SERVER: stack.baseUrl } });
    await bob('login', '--local', '--user', 'bob', '--role', 'viewer');
    const shared = join(folder, 'shared.csv');
    writeFileSync(shared, 'a\n');
    const uploaded = await cms('asset', 'upload', '--type', 'dataset', shared, '--content-access', 'domain', '--json');
    const {
      items: [{ id }],
    } = JSON.parse(uploaded.stdout) as { items: [{ id: string }] };
    const readers = async () => {
      const shown = await cms('asset', 'show', id, '--json');
      return (JSON.parse(shown.stdout) as { content_reads: { user: string }[] }).content_reads.map(({ user }) => user);
    };
    expect((await bob('asset', 'show', id)).stdout).toContain('every member of the domain may download it');
    expect(await readers()).toEqual([]);
    rmSync(shared);
    const home = process.cwd();
    process.chdir(folder);
    expect((await bob('asset', 'download', id)).exitCode).toBe(0);
    writeFileSync(shared, 'mine');
    expect(await bob('asset', 'download', id)).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `There is a file shared.csv here already.\nNext: cms asset download ${id} --output FILE\n`,
    });
    process.chdir(home);
    expect(readFileSync(shared, 'utf8')).toBe('mine');
    expect(await readers()).toEqual(['bob']);
    expect(await bob('asset', 'download', id, '--output', shared)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(shared, 'utf8')).toBe('a\n');
  });

  it('asks for a deletion with the name of the asset, and deletes none that has changed since', async () => {
    const doomed = join(folder, 'doomed.csv');
    writeFileSync(doomed, 'a\n');
    const uploaded = await cms('asset', 'upload', '--type', 'dataset', doomed, '--json');
    const {
      items: [{ id }],
    } = JSON.parse(uploaded.stdout) as { items: [{ id: string }] };
    const client = createClient({
      baseUrl: stack.baseUrl,
      domain: 'd1',
      token: await stack.token('alice', ['d1:administrator']),
    });
    const questions: string[] = [];
    const changes = [true, false];
    const asking = cmsIn(folder, {
      env: { CMS_SERVER: stack.baseUrl },
      ask: async (question) => {
        questions.push(question);
        const asset = { file_name: 'renamed.csv', asset_type: 'dataset' } as const;
        if (changes.shift()) await client.updateAsset({ id, body: { asset } });
        return 'y';
      },
    });
    expect(await asking('asset', 'delete', id)).toMatchObject({ exitCode: 6, stdout: '' });
    expect(await asking('asset', 'delete', id)).toMatchObject({ exitCode: 0, stdout: `Deleted renamed.csv (${id}).\n` });
    expect(questions).toEqual(
      ['doomed', 'renamed'].map((name) => `Delete the asset "${name}.csv" (${id}) and its content? [y/N] `),
    );
  });

  it('names the commands that link each of several files, and with --json what is uploaded before an error', async () => {
    const files = ['first.csv', 'second.csv'].map((name) => join(folder, name));
    for (const each of files) writeFileSync(each, each);
    const { stdout, stderr } = await cms('asset', 'upload', '--type', 'dataset', ...files);
    const ids = [...stdout.matchAll(/ as (\S+)\n/g)].map(([, id]) => id);
    const [first, second] = ids.map((id) => `cms asset link ${id} COMPUTATION\n`);
    expect([ids.length, stderr]).toEqual([2, `Next: ${first}      ${second}`]);
    const cut = await cms('asset', 'upload', '--type', 'dataset', ...files, join(folder, 'none.csv'), '--json');
    expect((JSON.parse(cut.stdout) as { items: { id: string }[] }).items.map(({ id }) => id)).toEqual(ids);
    expect(JSON.parse(cut.stderr)).toMatchObject({ error: expect.stringContaining('There is no file'), exit_code: 2 });
  });

  it('names a file that is not there', async () => {
    expect(await cms('asset', 'upload', '--type', 'dataset', join(folder, 'none.csv'))).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `There is no file "${join(folder, 'none.csv')}".\nNext: ls ${folder}\n`,
    });
  });
});
