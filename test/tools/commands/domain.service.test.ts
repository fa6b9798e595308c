import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { closingOf } from '../../../tools/domains/stage-data.ts';
import { domainCommand } from '../../../tools/commands/domain.ts';
import { local } from '../../../local/machine/environment.ts';
import { startAnswering } from '../../support/answering-server.ts';
import { callAs, readyComputation } from '../../support/ready-computation.ts';
import { killServices, startService, type ServiceProcess } from '../../support/service-process.ts';

const directory = mkdtempSync(join(tmpdir(), 'domain-'));
afterEach(() => {
  vi.unstubAllEnvs();
  killServices();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function run(command: string, service: Pick<ServiceProcess, 'baseUrl'>, ...args: string[]) {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../..', command), ...args], {
    env: { ...process.env, PORT: new URL(service.baseUrl).port },
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { status, stdout, stderr };
}

const domain = (service: Pick<ServiceProcess, 'baseUrl'>, action: string, ...args: string[]) =>
  run('tools/commands/domain.ts', service, action, '--domain', 'lab-7f3a', ...args);

const tokenIn = (output: string) => /^export TOKEN=(\S+)$/m.exec(output)?.[1] ?? '';

const database = 'dynamodb.sqlite';

/** Returns the files under a path whose name or content has a text, and the rows of the database that have it. */
function placesWith(text: string, path: string): string[] {
  const files = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter(({ name, parentPath }) => {
      const file = join(parentPath, name);
      return file.includes(text) || (name !== database && statSync(file).isFile() && readFileSync(file).includes(text));
    })
    .map(({ name }) => name);
  return [...files, ...rowsOf(join(path, database)).filter((row) => row.includes(text))];
}

/** Reads what the engine keeps. Its file may still have what was deleted, in pages that are free (docs/domains.md). */
function rowsOf(file: string): string[] {
  const opened = new DatabaseSync(file, { readOnly: true });
  const rows = opened.prepare(`SELECT * FROM "${local.tableName}"`).all();
  opened.close();
  expect(rows.length).toBeGreaterThan(0);
  return rows.map((row) =>
    Object.values(row)
      .map((each) => (each instanceof Uint8Array ? Buffer.from(each).toString('latin1') : String(each)))
      .join(' '),
  );
}

describe('npm run domain on one machine', () => {
  it('makes a domain, invites a user, changes a role, and removes all of it while other domains go on', async () => {
    const service = await startService(['--data', directory], ':', { simulator: true });
    const created = await domain(service, 'create', '--user', 'ada');
    expect(created).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringMatching(/^ada is lab-7f3a:administrator\.\nexport TOKEN=/),
    });
    const ada = callAs(service.baseUrl, tokenIn(created.stdout));
    const again = await domain(service, 'create', '--user', 'bob');
    const mistake = expect.stringMatching(/exists: ada is its administrator.*\n\nUsage: npm run domain/);
    expect(again).toMatchObject({ status: 2, stderr: mistake });

    const invited = await domain(service, 'invite', '--user', 'bob', '--role', 'creator,runner');
    expect(invited.stdout).toMatch(/^bob is lab-7f3a:creator, lab-7f3a:runner\.\n/);
    const changed = await domain(service, 'role', '--user', 'bob', '--role', 'viewer');
    expect(changed.stdout).toMatch(/^bob is lab-7f3a:viewer\.\n/);
    const bob = callAs(service.baseUrl, (await run('tools/commands/token.ts', service, '--sub', 'bob')).stdout.trim());
    expect((await bob('GET', '/lab-7f3a/computations')).status).toBe(200);
    expect((await bob('POST', '/lab-7f3a/computations', { name: 'Iris' })).status).toBe(403);
    const unknown = await run('tools/commands/token.ts', service, '--sub', 'eve');
    expect(unknown).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('--groups is required') });
    const reserved = { status: 2, stdout: '', stderr: expect.stringContaining('This name is reserved') };
    expect(await domain(service, 'invite', '--user', 'system', '--role', 'viewer')).toMatchObject(reserved);
    expect(await run('tools/commands/token.ts', service, '--sub', 'system', '--groups', 'lab-7f3a:viewer')).toMatchObject(
      reserved,
    );
    const last = await domain(service, 'role', '--user', 'ada', '--role', 'none');
    expect(last).toMatchObject({ status: 2, stderr: expect.stringContaining('ada is the last administrator of lab-7f3a') });

    const kept = await readyComputation(service.call);
    const id = await readyComputation(ada, 'lab-7f3a');
    expect((await ada('POST', `/lab-7f3a/computations/${id}/run?cvm=sim-slow-1`)).status).toBe(200);
    const active = await domain(service, 'remove', '--yes');
    expect(active).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/active\. Wait for the end, or stop active runs with --stop\./),
    });

    const counted = await domain(service, 'remove');
    expect(counted.stdout).toMatch(/^ +1 {2}computations\n +1 {2}runs\n +1 {2}assets$/m);
    expect(counted.stdout).toContain('Nothing was removed.');
    const removed = await domain(service, 'remove', '--yes', '--stop');
    expect(removed).toMatchObject({ status: 0, stderr: '' });
    expect(removed.stdout).toMatch(/^ +1 {2}computations\n +1 {2}runs\n +1 {2}assets$/m);
    expect(removed.stdout).toMatch(/^ +2 {2}users\n +2 {2}roles$/m);
    expect(removed.stdout).toContain('The removal is complete.');

    const empty = await domain(service, 'remove');
    expect(empty.stdout.match(/^ +\d+ {2}/gm)?.every((count) => Number(count) === 0)).toBe(true);
    expect((await ada('GET', '/lab-7f3a/computations')).body).toMatchObject({ total: 0 });
    expect((await service.call('GET', `/d1/computations/${kept}`)).status).toBe(200);
    await service.end('SIGTERM');
    expect(placesWith('lab-7f3a', directory)).toEqual([]);
    expect(placesWith(kept, directory)).not.toEqual([]);
    expect(readFileSync(join(directory, 'users.json'), 'utf8')).toBe('{}');
  });

  it.each([
    [['create', '--user', 'ada'], /^--domain is required/],
    [['dismiss', '--domain', 'lab-7f3a'], /^Expected one of create invite role remove\.$/],
    [['invite', '--domain', 'lab-7f3a', '--user', 'ada'], /^--role is required\.$/],
    [['remove', '--domain', 'a domain'], /^--domain is required/],
    [['remove', '--domain', 'lab-7f3a', '--stage', 'dev', '--tokens-live', 'long'], /^--tokens-live is "long"/],
  ])('refuses the arguments %j', async (args, message) => {
    const refused = { name: 'UsageError', message: expect.stringMatching(message) };
    await expect(domainCommand(args)).rejects.toMatchObject(refused);
  });

  const stage = ['--stage', 'dev'];
  const user = ['--user', 'bob'];
  const role = ['--role', 'viewer'];
  const email = ['--email', 'bob@example.com'];
  const tokensLive = ['--tokens-live', '1h'];
  it.each([
    ['create', [...user, ...stage], [role, ['--yes'], ['--stop'], ['--wait'], tokensLive]],
    ['create', user, [email]],
    ['invite', [...user, ...role, ...stage], [['--yes'], ['--stop'], ['--wait'], tokensLive]],
    ['invite', [...user, ...role], [email]],
    ['role', [...user, ...role, ...stage], [email, ['--yes'], ['--stop'], ['--wait'], tokensLive]],
    ['remove', ['--yes', ...stage], [user, role, email]],
    ['remove', ['--yes'], [['--wait'], tokensLive]],
  ])('refuses options that %s %j does not take, and asks the service nothing', async (action, taken, others) => {
    const service = await startAnswering(() => ({}));
    vi.stubEnv('PORT', new URL(service.endpoint).port);
    const message = expect.stringMatching(/^`.* (takes no --|To take a user out of it: role )/);
    for (const other of others) {
      const refused = domainCommand([action, '--domain', 'lab-7f3a', ...taken, ...other]);
      await expect(refused).rejects.toMatchObject({ name: 'UsageError', message });
    }
    await service.stop();
    expect(service.requests).toEqual([]);
  });

  it('tells how long a removal waits for the last tokens and uploads', async () => {
    const hours = (hasLimit: boolean) => closingOf(0, { hasLimit, tokensLiveInSeconds: 3_600 }).isOverAt / 3_600_000;
    expect([hours(true), hours(false)].map(Math.round)).toEqual([1, 2]);
    const { stdout } = await run('tools/commands/domain.ts', { baseUrl: 'http://localhost:9' }, '--help');
    expect(stdout).toContain('about an hour, two on a stage without a domainLimit');
  });

  it('fails and tells how to start the service when it is not running', async () => {
    vi.stubEnv('PORT', '9');
    const failure = { name: 'Error', message: expect.stringContaining('Start the service with `npm start`') };
    await expect(domainCommand(['remove', '--domain', 'lab-7f3a'])).rejects.toMatchObject(failure);
  });
});
