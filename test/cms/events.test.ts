import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

  it('says how many more there are, and how to list them', async () => {
    const { stderr } = await alice('events', '--limit', '2');
    expect(stderr).toBe('1 more. List them with --offset 2, or all with --all.\n');
    expect((await alice('events', '--limit', '3')).stderr).toBe('');
  });
});
