import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Stack, startStack } from '../../infra/local/stack.ts';
import { cmsIn } from './fake-terminal.ts';

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
  const { events, total } = JSON.parse(stdout) as { events: { event_type: string }[]; total: number };
  return { types: events.map(({ event_type }) => event_type), total };
}

describe('cms events', () => {
  it.each([
    [[], ['updated', 'updated', 'created']],
    [
      ['--limit', '2'],
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
    vi.useFakeTimers({ toFake: ['setTimeout'] }).setTimerTickMode('nextTimerAsync'); // the pauses between the attempts
    const { stderr } = await cmsIn(folder, { env })('events', '00000000-0000-8000-8000-000000000000');
    vi.useRealTimers();
    server.close();
    expect(stderr).toBe('Busy. Trying again.\nThe service answers again.\n');
  });

  it('ends without a word when nobody reads its output any more', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, '../../client/bin/cms.js'), '--help']);
    child.stdout.destroy();
    const [exitCode, stderr] = await Promise.all([once(child, 'close'), text(child.stderr)]);
    expect({ exitCode, stderr }).toEqual({ exitCode: [141, null], stderr: '' });
  });

  it('says how many more there are, and how to list them', async () => {
    const { stderr } = await alice('events', '--limit', '2');
    expect(stderr).toBe('1 more. List them with --offset 2, or all with --all.\n');
    expect((await alice('events', '--limit', '3')).stderr).toBe('');
  });
});
