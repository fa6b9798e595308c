import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { localCredentials } from '../../../local/machine/environment.ts';
import { indexCommand } from '../../../tools/commands/maintain-index.ts';
import { keyToWrite, listKeys, type Key } from '../../../shared/table/keys.ts';
import { rowLists } from '../../../shared/table/row-lists.ts';
import { deleteItems, putItem, putItems } from '../../../shared/table/writes.ts';
import { startAnsweringStacks } from '../../support/answering-aws.ts';
import { aComputation } from '../../support/builders-store.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { scan } from '../../support/inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { testClock } from '../../support/test-clock.ts';

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));
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

  it('compares every list, and rebuilds what differs, also that of an owner who has no more computations', async () => {
    const { table } = embedded;
    await aComputation(table, 'young');
    expect(await index('check', '--all')).toEqual({ status: 0, stdout: '2 lists checked: 0 differ from their rows.\n' });
    const { rows } = rowLists.computations('young');
    await putItem(table, { ...keyToWrite(listKeys.row(rows, 7)), id: 'x', status: 'created', owner: 'bob' });
    await deleteItems(table, [keyToWrite(listKeys.row(rows, 1))]);
    const [{ name }, { name: ofBob }] = [
      rowLists.ownedComputations('young', 'alice'),
      rowLists.ownedComputations('young', 'bob'),
    ];
    expect((await index('rebuild', '--all')).stdout.split('\n')).toEqual([
      'computations#young: the names of 1 rows are indexed anew.',
      'computations#young: what waits in 1 computations and assets is listed anew, 1 failed.',
      'computations#young: number 1 is in state 0, in the list in state 1.',
      'computations#young: number 7 is in state 1, in the list in state 0.',
      'computations#young: 1 rows checked, 2 differences.',
      'computations#young: rebuilt from 1 rows.',
      'computations#young: 1 rows checked, 0 differences.',
      `${name}: number 1 is in state 0, in the list in state 1.`,
      `${name}: 0 rows checked, 1 differences.`,
      `${name}: rebuilt from 0 rows.`,
      `${name}: 0 rows checked, 0 differences.`,
      `${ofBob}: number 7 is in state 1, in the list in state 0.`,
      `${ofBob}: 1 rows checked, 1 differences.`,
      `${ofBob}: rebuilt from 1 rows.`,
      `${ofBob}: 1 rows checked, 0 differences.`,
      '3 lists checked: 3 differed from their rows and were rebuilt.',
      '',
    ]);
  });

  it.each(['check', 'rebuild'])('refuses to %s the lists of a domain that has none, and writes nothing', async (action) => {
    await aComputation(embedded.table, 'd1');
    const before = await keys();
    const failure = {
      name: 'Error',
      message: 'The table has nothing in computations#d2, runs#d2, assets#d2, results#d2, cvms#d2.',
    };
    await expect(index(action, '--domain', 'd2')).rejects.toMatchObject(failure);
    expect(await keys()).toEqual(before);
  });
});

describe('npm run index -- check', () => {
  const list = rowLists.linkedComputations('a');
  const enter = async (count: number) => {
    const rows = Array.from({ length: count }, (_, at) => ({ ...keyToWrite(listKeys.row(list.rows, at + 1)) }));
    await putItems(embedded.table, rows);
  };

  it('goes on from a number of a list, and leaves out what is before', async () => {
    await enter(3);
    expect(await index('check', '--asset', 'a', '--list', 'linked#a', '--from', '3')).toEqual({
      status: 1,
      stdout:
        'linked#a: number 3 is in state 1, in the list in state 0.\nlinked#a: 1 rows checked from number 3 on, 1 differences.\n',
    });
  });

  it('finds nothing after a rebuild of several pages', async () => {
    await enter(1_100);
    expect(await index('rebuild', '--asset', 'a')).toEqual({
      status: 0,
      stdout: 'linked#a: rebuilt from 1100 rows.\nlinked#a: 1100 rows checked, 0 differences.\n',
    });
  });

  it.each([
    [['check', '--asset', 'a', '--list', 'linked#a', '--from', 'x'], '--from takes a number of the list, as in 100001.'],
    [['rebuild', '--asset', 'a', '--from', '1'], '--from is an option of check with --list only.'],
  ])('refuses %j', async (args, message) => {
    await expect(index(...args)).rejects.toMatchObject({ name: 'UsageError', message });
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
      stdout: '2 lists checked: 0 differ from their rows.\n',
      stderr: '',
    });
    expect(stacks.requests.map(({ body }) => new URLSearchParams(body).get('StackName'))).toEqual(['computations-dev-state']);
  });
});
