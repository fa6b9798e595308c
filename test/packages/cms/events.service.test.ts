import { randomUUID } from 'node:crypto';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createClient } from 'computation-management-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { compileCache } from '../../support/compile-cache.ts';
import { type Stack, startStack } from '../../../local/stack.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { cmsIn } from './fake-terminal.ts';
import { writeSshKeys } from './ssh-keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-'));
let stack: Stack;
let alice: ReturnType<typeof cmsIn>;

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false });
  alice = cmsIn(folder, { env: { CMS_SERVER: stack.baseUrl } });
  await alice('login', '--local');
  await alice('computation', 'create', 'A');
  for (const name of ['B', 'C']) await alice('computation', 'update', '--name', name);
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

async function typesOf(...args: string[]) {
  const { stdout } = await alice('events', ...args, '--json');
  const { items, total } = JSON.parse(stdout) as { items: { event_type: string }[]; total: number };
  return { types: items.map(({ event_type }) => event_type), total };
}

describe('cms watch', () => {
  it('says what to type at the agent of a registered CVM when it waits for files and when the result is there', async () => {
    const userName = 'carol\u200b'; // must not pass for carol
    const carol = cmsIn(join(folder, 'carol'), { env: { CMS_SERVER: stack.baseUrl }, userName });
    await carol('login', '--local');
    writeFileSync(join(folder, 'sum.sh'), '#!/bin/sh\n');
    await carol('computation', 'create', 'Sum');
    await carol('key', 'upload', `${writeSshKeys(folder)}.pub`, 'Sum');
    await carol('asset', 'upload', join(folder, 'sum.sh'), '--type', 'algorithm', '--computation', 'Sum');
    const { run } = JSON.parse((await carol('run', 'Sum', '--cvm', 'my-cvm', '--json')).stdout) as { run: string };
    const clientWith = async (role: string) =>
      createClient({ baseUrl: stack.baseUrl, domain: 'd1', token: await stack.token(userName, [`d1:${role}`]) });
    await (await clientWith('administrator')).registerCvm({ cvmID: 'my-cvm', body: { description: 'cvm.example.com:7002' } });
    const cvm = await clientWith('cvm');
    const out = vi.fn();
    const watching = cmsIn(join(folder, 'carol'), { env: { CMS_SERVER: stack.baseUrl }, out })('watch', 'Sum');
    await vi.waitFor(() => expect(out).toHaveBeenCalledWith(expect.stringContaining('started')), untilTestEnds);
    const commands = await vi.waitUntil(async () => {
      const { commands } = await cvm.listCommands({ cvmID: 'my-cvm', wait: 20 });
      return commands.length > 0 && commands;
    }, untilTestEnds);
    const event = (event_type: string, status: string) => ({
      id: randomUUID(),
      run_id: run,
      type: 'event' as const,
      event_type,
      status,
    });
    const accepted = { id: randomUUID(), run_id: run, type: 'accepted' as const, command_id: commands[0]?.id ?? '' };
    const reports = [accepted, event('ReceivingAlgorithm', 'InProgress'), event('ReceivingData', 'InProgress')];
    await cvm.report({ cvmID: 'my-cvm', body: { reports: [...reports, event('ConsumingResults', 'Ready')] } });
    const { exitCode, stderr } = await watching;
    expect(exitCode).toBe(0);
    expect(out.mock.calls.flat().join('')).toMatch(/carol.+200B/);
    expect(stderr.match(/cms (?:send|result)\b/g)).toEqual(['cms send', 'cms send', 'cms result']);
  });
});

describe('cms events', () => {
  it.each([
    [[], ['updated', 'updated', 'created']],
    [
      ['--limit', '2'],
      ['updated', 'updated'],
    ],
    [
      ['--limit', '2', '--offset', '0'],
      ['updated', 'updated'],
    ],
    [['--limit', '2', '--offset', '2'], ['created']],
    [
      ['--limit', '101'],
      ['updated', 'updated', 'created'],
    ],
    [
      ['--all', '--limit', '1'],
      ['updated', 'updated', 'created'],
    ],
    [['--all', '--offset', '500'], []],
  ])('lists with %j the newest first, as the other lists do', async (options, types) => {
    expect(await typesOf(...options)).toEqual({ types, total: 3 });
  });

  it('notes an outage once, above what is live, and that the service answers again', async () => {
    const answers = [503, 503, 503, 200];
    const server = createServer((_, response) => {
      const status = answers.shift() ?? 500;
      const body = status === 200 ? { events: [], limit: 20, offset: 0, total: 0 } : { code: 'unavailable', detail: 'Busy' };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const env = {
      CMS_SERVER: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      CMS_DOMAIN: 'd1',
      CMS_TOKEN: await stack.token('alice', []),
    };
    const { stderr } = await cmsIn(folder, { env })('events', '00000000-0000-8000-8000-000000000000');
    server.close();
    expect(stderr).toBe('Busy. Trying again.\nThe service answers again.\n');
  });

  it('ends without a word when nobody reads its output any more', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, '../../../packages/cms/cms.ts'), '--help']);
    child.stdout.destroy();
    const [exitCode, stderr] = await Promise.all([once(child, 'close'), text(child.stderr)]);
    expect({ exitCode, stderr }).toEqual({ exitCode: [141, null], stderr: '' });
  });

  it.skipIf(!existsSync('/dev/full'))('ends with a sentence when its output is full, and as ever when its notes are', () => {
    const program = join(import.meta.dirname, '../../../packages/cms/cms.ts');
    const run = (line: string) =>
      spawnSync('sh', ['-c', `"$0" "$1" ${line}`, process.execPath, program], {
        encoding: 'utf8',
        env: { ...compileCache, HOME: folder },
      });
    expect(run('--help >/dev/full')).toMatchObject({
      status: 1,
      stderr: 'The output could not be written: no space is left on the device.\n',
    });
    expect(run('whoami --profile nobody 2>/dev/full')).toMatchObject({ status: 3 });
  });

  it('says how many more there are, and how to list them', async () => {
    const { stderr } = await alice('events', '--limit', '2');
    expect(stderr).toBe('1 more. List them with --offset 2, or all with --all.\n');
    expect((await alice('events', '--limit', '3')).stderr).toBe('');
  });
});
