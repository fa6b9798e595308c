import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { localCredentials } from '../../../local/machine/environment.ts';
import { Comparison } from '../../../tools/commands/compare-lists.ts';
import { indexCommand } from '../../../tools/commands/maintain-index.ts';
import { indexedLists } from '../../../shared/lists/indexed-list.ts';
import { rebuildIndex } from '../../../shared/lists/rebuild.ts';
import { keyToWrite, listKeys, type Key } from '../../../shared/table/keys.ts';
import { deleteItems, putItem, putItems } from '../../../shared/table/writes.ts';
import { startAnsweringStacks } from '../../support/answering-aws.ts';
import { aComputation } from '../../support/builders-store.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { scan } from '../../support/inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { testClock } from '../../support/test-clock.ts';

const embedded = sharedByTests(startEmbeddedTable);
const command = join(import.meta.dirname, '../../../tools/commands/maintain-index.ts');

async function runIndex(...args: string[]) {
  const child = spawn(process.execPath, [command, ...args], {
    env: { ...process.env, DYNAMODB_ENDPOINT: embedded.endpoint },
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { status, stdout, stderr };
}

const statusSoFar = () => Number(process.exitCode ?? 0);

/** Runs the command in this process, by a clock whose waits take no time. */
async function index(...args: string[]) {
  vi.stubEnv('DYNAMODB_ENDPOINT', embedded.endpoint);
  const { exitCode } = process;
  process.exitCode = undefined;
  const written: string[] = [];
  const output = vi.spyOn(process.stdout, 'write').mockImplementation((line) => written.push(String(line)) > 0);
  try {
    await indexCommand(args, testClock({ skipsWaits: true }));
    return { status: statusSoFar(), stdout: written.join('') };
  } finally {
    output.mockRestore();
    process.exitCode = exitCode;
  }
}

const keys = async () => (await scan(embedded.table)).map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }));
beforeEach(async () => deleteItems(embedded.table, (await scan(embedded.table)) as unknown as Key[]));
afterEach(() => vi.unstubAllEnvs());

describe('npm run index', () => {
  it('prints a mistake on the command line with its usage, and exits with 2', async () => {
    const { status, stdout, stderr } = await runIndex('check');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^--domain is required\.\n\nUsage: npm run index/);
  });

  it.each([
    ['--domain', 'd1'],
    ['--asset', 'a'],
  ])('refuses --all with %s, which it would ignore', async (...named) => {
    const refused = { name: 'UsageError', message: '--all takes neither --domain nor --asset.' };
    await expect(index('check', '--all', ...named)).rejects.toMatchObject(refused);
  });

  it('compares every list, and rebuilds what differs', async () => {
    const { table } = embedded;
    await aComputation(table, 'young');
    expect(await index('check', '--all')).toEqual({ status: 0, stdout: '1 indexes checked: 0 differ from their rows.\n' });
    const row = { id: 'x', status: 'created', owner: 'alice' };
    await putItem(table, { ...keyToWrite(listKeys.row(indexedLists.computations('young').rows, 7)), ...row });
    expect((await index('rebuild', '--all')).stdout.split('\n')).toEqual([
      'computations#young: the index was rebuilt from 2 rows.',
      'computations#young: 2 rows checked, 0 differences.',
      'runs#young: 0 rows checked, 0 differences.',
      '1 indexes checked: 1 differed from their rows and were rebuilt.',
      '',
    ]);
  });

  it.each(['check', 'rebuild'])('refuses to %s the lists of a domain that has none, and writes nothing', async (action) => {
    await aComputation(embedded.table, 'd1');
    const before = await keys();
    const failure = { name: 'Error', message: 'The table has nothing in computations#d2, assets#d2, cvms#d2.' };
    await expect(index(action, '--domain', 'd2')).rejects.toMatchObject(failure);
    expect(await keys()).toEqual(before);
  });
});

describe('npm run index -- check', () => {
  const list = indexedLists.linkedComputations('a');
  const enter = (from: number, to: number) => {
    const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at);
    return putItems(
      embedded.table,
      numbers.map((number) => ({ ...keyToWrite(listKeys.row(list.rows, number)) })),
    );
  };

  it('goes on from a number of a list, and leaves out what is before', async () => {
    await enter(1, 3);
    const { status, stdout } = await index('check', '--asset', 'a', '--from', 'linked#a:3');
    expect({ status, stdout }).toEqual({
      status: 1,
      stdout:
        'linked#a: number 3 is in state 1, in the tree l in state 0.\nlinked#a: 1 rows checked from number 3 on, 1 differences.\n',
    });
  });

  it('goes on from a list of the domain, and from an index of the table', async () => {
    await aComputation(embedded.table, 'd1');
    const runs = 'runs#d1: 0 rows checked, 0 differences.\n';
    expect((await index('check', '--domain', 'd1', '--from', 'runs#d1')).stdout).toBe(runs);
    await enter(1, 1);
    const one = '1 indexes checked: 1 differ from their rows.\n';
    const all = await index('check', '--all', '--from', 'linked#a');
    expect(all).toMatchObject({ status: 1, stdout: expect.stringContaining(one) as string });
    expect(all.stdout).not.toContain('d1');
  });

  it('prints from where it can go on', async () => {
    await enter(1, 1_100);
    const table = { ...embedded.table, clock: testClock({ skipsWaits: true }) };
    await rebuildIndex(table, [list], () => undefined);
    const lines: string[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    expect(await new Comparison(table, undefined, 1_000).print([list])).toBe(false);
    vi.restoreAllMocks();
    expect(lines).toEqual([
      '1000 rows more were checked. To go on from here after an interruption: --from linked#a:1001\n',
      'linked#a: 1100 rows checked, 0 differences.\n',
    ]);
  });

  it.each([
    ['linked#b:1', '--from names linked#b, which is none of the lists to check.'],
    ['linked#a:x', '--from takes a list and a number, as in computations#d1:100001.'],
  ])('refuses --from %s', async (from, message) => {
    await enter(1, 1);
    await expect(index('check', '--asset', 'a', '--from', from)).rejects.toMatchObject({ name: 'UsageError', message });
  });

  it('is the only command that takes --from', async () => {
    const refused = { name: 'UsageError', message: '--from is an option of check only.' };
    await expect(index('rebuild', '--asset', 'a', '--from', 'linked#a')).rejects.toMatchObject(refused);
  });
});

describe('npm run index -- rebuild', () => {
  it('says what it continues, and fails if rows that it had read before have changed since', async () => {
    const table = { ...embedded.table, clock: testClock({ skipsWaits: true }) };
    const list = indexedLists.linkedComputations('a');
    const enter = (number: number) => putItem(table, { ...keyToWrite(listKeys.row(list.rows, number)) });
    await enter(1);
    const dies = rebuildIndex(table, [list], () => {
      throw new Error('died');
    });
    await expect(dies).rejects.toThrow('died');
    await enter(2);
    const { stdout, status } = await index('rebuild', '--asset', 'a');
    expect(stdout).toMatch(/^linked#a: continues the rebuild of \d.*Z, after the last row\./);
    expect(stdout).toContain('linked#a: number 2 is in state 1, in the tree l in state 0.');
    expect(status).toBe(1);
  });

  it('begins again with --restart, which check refuses', async () => {
    const table = { ...embedded.table, clock: testClock({ skipsWaits: true }) };
    const list = indexedLists.linkedComputations('a');
    await putItem(table, { ...keyToWrite(listKeys.row(list.rows, 1)) });
    const dies = rebuildIndex(table, [list], () => {
      throw new Error('died');
    });
    await expect(dies).rejects.toThrow('died');
    expect(await index('rebuild', '--restart', '--asset', 'a')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^linked#a: the index was rebuilt from 1 rows\.$/m),
    });
    await expect(index('check', '--restart', '--asset', 'a')).rejects.toMatchObject({ name: 'UsageError' });
  });
});

describe('npm run index with a stage', () => {
  it('checks the table that the stack of the stage names, whatever its own name is', async () => {
    await aComputation(embedded.table, 'd1');
    const stacks = await startAnsweringStacks(() => ({ TableName: embedded.table.name }));
    vi.stubEnv('AWS_ACCESS_KEY_ID', localCredentials.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', localCredentials.secretAccessKey);
    vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', stacks.endpoint);
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', embedded.endpoint);
    const { status, stdout, stderr } = await runIndex('check', '--all', '--stage', 'dev');
    await stacks.stop();
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: '1 indexes checked: 0 differ from their rows.\n',
      stderr: '',
    });
    expect(stacks.requests.map(({ body }) => new URLSearchParams(body).get('StackName'))).toEqual(['computations-dev-state']);
  });
});
