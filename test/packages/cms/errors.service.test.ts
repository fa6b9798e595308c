import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'computation-management-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createProgram } from '../../../packages/cms/run-cms.ts';
import { type Stack, startStack } from '../../../local/stack.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { cmsIn } from './fake-terminal.ts';
import { writeSshKeys } from './ssh-keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-'));
let stack: Stack;
let alice: ReturnType<typeof cmsIn>;
let bob: ReturnType<typeof cmsIn>;
let id: string;

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: true });
  const env = { CMS_SERVER: stack.baseUrl };
  alice = cmsIn(join(folder, 'alice'), { env });
  bob = cmsIn(join(folder, 'bob'), { env, userName: 'bob' });
  await alice('login', '--local');
  await bob('login', '--local', '--role', 'dataset_provider');
  const created = await alice('computation', 'create', 'Incomes', '--json');
  ({ id } = JSON.parse(created.stdout) as { id: string });
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

const longCollaboration = `computation:
  name: Long
  owner: alice
  description: ${'x'.repeat(100_000)}
parties:
  alice: {}
`;

describe('errors of cms', () => {
  it('a wrong option names the similar one, and exits with 2', async () => {
    expect(await alice('run', '--cmv', 'sim-1')).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: "Unknown option '--cmv'\n(Did you mean --cvm?)\nNext: cms run --help\n",
    });
    expect(await alice('comptation', 'list')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('(Did you mean computation?)'),
    });
    expect(await alice('run')).toMatchObject({
      exitCode: 2,
      stderr: 'Missing option --cvm: choose the CVM for the run.\nNext: cms run --cvm sim-1\n',
    });
    expect(await alice('computation', 'list', '--status', 'done')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Allowed choices are created, running'),
    });
  });

  it.each([
    [
      ['run', 'Incomes', '--cvm', 'a b'],
      /^Changing the computation "Incomes" \(\S+\) of alice\.\n--cvm: Expected .*\nNext: cms run --help\n$/,
    ],
    [['cvm', 'show', 'a b'], /^CVM: Expected .*\nNext: cms cvm show --help\n$/],
    [
      ['todo', '--domain', 'a b'],
      /^The domain \(of --domain, CMS_DOMAIN or the profile\): Expected .*\nNext: cms todo --help\n$/,
    ],
    [
      ['computation', 'update', 'Incomes', '--name', 'x'.repeat(201)],
      /^Changing the computation "Incomes" \(\S+\) of alice\.\n--name: .*\nNext: cms computation update --help\n$/,
    ],
    [
      [
        'computation',
        'create',
        'A',
        '--description',
        'x'.repeat(100_000),
        '--consumer',
        'c'.repeat(300),
        '--provider',
        'p'.repeat(300),
        '--owner',
        'a'.repeat(300),
      ],
      /^--description: .*\n--owner: .*\n--consumer: .*\n--provider: .*\nNext: cms computation create --help\n$/,
    ],
    [['find', 'x', '--limit', '99'], /^--limit: Expected .*\nNext: cms find --help\n$/],
    [
      ['computation', 'create', 'R', '--consumer', 'bob', '--reviewer', 'alice'],
      /^--reviewer: Expected a user who gets no results\..*\nNext: cms computation create --help\n$/,
    ],
    [
      ['computation', 'create', 'R', '--consumer', 'bob', '--reviewer', 'rita', '--needed', '5'],
      /^--needed: Expected .*\nNext: cms computation create --help\n$/,
    ],
    ...(
      [
        [['ftp://x/a'], 'URL'],
        [['https://x/a', '--kbs', 'foo', '--kbs-path', 'a/b/c'], '--kbs'],
        [['https://x/a', '--kbs', 'https://k', '--kbs-path', '../b'], '--kbs-path'],
        [['https://x/a', '--algo-arg', 'x'], '--algo-arg'],
      ] as const
    ).map(([words, place]): [string[], RegExp] => [
      ['asset', 'add', ...words, '--type', 'dataset', '--checksum', 'a'.repeat(64)],
      new RegExp(`^${place}: Expected .*\\nNext: cms asset add --help\\n$`),
    ]),
    [['computation', 'list', '--owner', 'a'.repeat(300)], /^--owner: .*\nNext: cms computation list --help\n$/],
    [
      ['asset', 'upload', '--type', 'dataset', join(folder, 'broken.json'), '--name', 'a/b'],
      /^--name: .*\nNext: cms asset upload --help\n$/,
    ],
    [
      ['init', join(folder, 'long.yaml')],
      /^\S+\/long\.yaml:4:3: computation\.description: Expected .*\nNext: cms init --example\n$/,
    ],
    [['key', 'upload', join(folder, 'none.pub'), 'Incomes'], /^There is no file .*\nNext: cms key create \S+\/none\n$/],
    [
      ['key', 'upload', join(folder, 'only-private.pub'), 'Incomes'],
      /^There is no file .*\nNext: ssh-keygen -y -f \S+\/only-private > \S+\/only-private\.pub\n$/,
    ],
    [
      ['key', 'upload', join(folder, 'only-pem.pub'), 'Incomes'],
      /^There is no file .*\nNext: openssl pkey -in \S+\/only-pem\.pem -pubout -out \S+\/only-pem\.pub\n$/,
    ],
    [['key', 'upload', join(folder, 'nowhere/none.pub'), 'Incomes'], /^There is no file .*\nNext: ls \S+\/cms-\w+\n$/],
    [
      ['key', 'upload', join(folder, 'broken.json'), 'Incomes'],
      /^\S+\/broken\.json: Expected one public key.*\nNext: cms key upload KEYFILE\.pub Incomes\n$/,
    ],
    ...['7', '12', '40', '12/31/2026', '2999-12-31T12:00:00', '2027-02-30', '2027-02-30T12:00:00Z', ''].map(
      (when): [string[], RegExp] => [
        ['approve', 'Incomes', '--yes', '--expires', when],
        /'--expires <WHEN>' .* Expected a moment such as .*\nNext: cms approve --help\n$/,
      ],
    ),
    ...['0d', '2001-07-01T12:00:00Z'].map((when): [string[], RegExp] => [
      ['approve', 'Incomes', '--yes', '--expires', when],
      /^\S+ has passed by the clock of the service, where it is \S+Z\.\nNext: cms approve --help\n$/,
    ]),
    ...['nowhere', 'ftp://example.com', 'http://example.com', 'http://user:secret@localhost', 'https://example.com?a=b'].map(
      (server): [string[], RegExp] => [
        ['todo', '--server', server],
        /^--server, CMS_SERVER or the profile: Expected (?:the|an) address (?!.*secret).*\nNext: cms todo --help\n$/,
      ],
    ),
    [['init', '--example', 'new.yaml'], /takes no FILE\.\nNext: cms init --example > new\.yaml\n$/],
    [['init', join(folder, 'none.yaml')], /^There is no file .*\nNext: cms init --example > \S+\/none\.yaml\n$/],
    [['init', folder], /^Cannot read "\S+": EISDIR.*\nNext: ls \S+\n$/],
    [['help', 'comptation'], /^Unknown command 'comptation'\nNext: cms --help\n$/],
    ...['a'.repeat(256)].map((user): [string[], RegExp] => [
      ['login', '--local', '--user', user],
      new RegExp(
        `^No login as the user "${user}": Expected a user identifier: 1 to 255 bytes of UTF-8\\.\\nNext: cms login --help\\n$`,
      ),
    ]),
    [['login', '--local', '--domain', 'a b'], /^No login in the domain "a b": Expected 1 to 64 of .*\nNext: cms login --help\n$/],
    [['events', 'Incomes', '--follow', '--limit', '5'], /'--follow' cannot be used with option '--limit <COUNT>'/],
    [['events', 'Incomes', '--follow', '--offset', '0'], /'--follow' cannot be used with option '--offset <COUNT>'/],
    [['events', 'Incomes', '--follow', '--all'], /'--follow' cannot be used with option '--all'/],
    [['events', 'Incomes', '--limit', '0'], /'--limit <COUNT>' .* Expected a whole number from 1\.\nNext: cms events --help\n$/],
    [
      ['verify', join(folder, 'broken.json'), '--keys', join(folder, 'broken.json')],
      /^The evidence is not JSON: .*\nNext: cms evidence COMPUTATION\n$/,
    ],
    [
      ['todo', '--domain', '..'],
      /^The domain \(of --domain, .*\): Expected an identifier, not "\.\."\.\nNext: cms todo --help\n$/,
    ],
    [['computation', 'create', 'caf\uFFFD'], /^This argument is not in UTF-8: "caf\uFFFD".*\.\nNext: cms --help\n$/],
    [['cvm', 'show', '.'], /^CVM: Expected an identifier, not "\."\.\nNext: cms cvm show --help\n$/],
    [['asset', 'upload', '--type', 'dataset', '.'], /^"\." is not a file\.\nNext: ls \.\n$/],
    ...['nonsense', 'ftp://example.com', 'localhost:3000', 'http://example.com', 'https://a:secret@b.example'].map(
      (issuer): [string[], RegExp] => [
        ['login', '--issuer', issuer, '--client-id', 'cms'],
        /^--issuer: Expected (?:the|an) address (?!.*secret).*\nNext: cms login --help\n$/,
      ],
    ),
    [
      ['login', '--local', '--role', 'king'],
      /'--role <ROLE\.\.\.>' .* Allowed choices are administrator, .*\nNext: cms login --help\n$/,
    ],
    [['verify', join(folder, 'nowhere')], /^There is no file or folder "\S+\/nowhere"\.\nNext: ls \S+\n$/],
    [['verify', folder, '--keys', join(folder, 'no.json')], /^There is no file "\S+"\.\nNext: \S+ \S+\n$/],
  ])('a mistake in %j names the option, the argument or the file and the help, and exits with 2', async (args, stderr) => {
    writeFileSync(join(folder, 'broken.json'), '{');
    for (const name of ['only-private', 'only-pem.pem']) writeFileSync(join(folder, name), 'secret');
    writeFileSync(join(folder, 'long.yaml'), longCollaboration);
    expect(await alice(...args)).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringMatching(stderr) });
  });

  it.each([
    [['computation', 'list', '--owner', ''], '--owner <USER>'],
    [['computation', 'create', ''], 'NAME'],
    [['computation', 'show', ''], 'COMPUTATION'],
    [['computation', 'update', '--consumer', ''], '--consumer <USER>'],
    [['asset', 'show', ''], 'ASSET'],
    [['asset', 'upload', 'a.csv', ''], 'FILE'],
    [['asset', 'download', 'a', '--output', ''], '--output <FILE>'],
    [['approve', '--sign', ''], '--sign <FILE>'],
    [['cvm', 'show', ''], 'CVM'],
    [['login', '--local', '--user', ''], '--user <USER>'],
    [['evidence', '--output', ''], '--output <DIR>'],
    [['verify', ''], 'PATH'],
    [['events', '--run', ''], '--run <RUN>'],
    [['todo', '--server', ''], '--server <URL>'],
    [['todo', '--domain', ''], '--domain <DOMAIN>'],
    [['todo', '--profile', ''], '--profile <NAME>'],
  ])('an empty value in %j is refused, and exits with 2', async (args, taking) => {
    const { exitCode, stdout, stderr } = await alice(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(`'' is invalid`);
    expect(stderr).toMatch(new RegExp(`'${taking}'.* Expected a text that is not empty\\.\\nNext: cms .*--help\\n$`));
  });

  it('a description may be emptied', async () => {
    await alice('computation', 'create', 'Described', '--description', 'Something');
    const { stdout } = await alice('computation', 'update', 'Described', '--description', '', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ description: '' });
    await alice('computation', 'use', 'Incomes');
  });

  it('an option that may be repeated takes one value each time, and leaves the computation behind it', async () => {
    const created = await alice('computation', 'create', 'Behind', '--json');
    const behind = JSON.parse(created.stdout) as { id: string };
    await alice('computation', 'use', 'Incomes');
    const update = async (...args: string[]) =>
      JSON.parse((await alice('computation', 'update', ...args, '--json')).stdout) as object;
    const consumers = ['--consumer', 'bob', '--consumer', 'carol'];
    expect(await update(...consumers, behind.id)).toMatchObject({ id: behind.id, consumers: ['bob', 'carol'] });
    expect(await update(behind.id, '--consumer', 'dan')).toMatchObject({ id: behind.id, consumers: ['dan'] });
    expect(await update('--no-consumers', behind.id)).toMatchObject({ id: behind.id, consumers: [] });
    const providers = ['--provider', 'bob', '--provider', 'carol'];
    expect(await update(...providers, behind.id)).toMatchObject({ id: behind.id, providers: ['bob', 'carol'] });
    expect(await alice('computation', 'show', behind.id)).toMatchObject({
      stdout: expect.stringMatching(/Providers +bob, carol\n/),
    });
    expect(await update('--name', 'Behind', behind.id)).toMatchObject({ id: behind.id, providers: ['bob', 'carol'] });
    expect(await update('--no-providers', behind.id)).toMatchObject({ id: behind.id, providers: [] });
    expect(await alice('approve', '--cvm', 'cvm-1', behind.id, '--yes')).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining(`Next: cms check ${behind.id}\n`),
    });
    type Command = ReturnType<typeof createProgram>;
    const withCommands = (command: Command): Command[] => [command, ...command.commands.flatMap(withCommands)];
    const takingMore = withCommands(createProgram('0.1.0', () => async () => undefined))
      .filter(({ registeredArguments }) => registeredArguments.length > 0)
      .flatMap(({ options }) => options.filter(({ variadic }) => variadic));
    expect(takingMore).toEqual([]);
  });

  it('cms runs does not offer the status that only computations have', async () => {
    expect(await alice('runs', '--status', 'created')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Allowed choices are running, stopping'),
    });
  });

  it('a command to type next names the computation where CMS_COMPUTATION names another one', async () => {
    const run = (variable: string) =>
      cmsIn(join(folder, 'alice'), { env: { CMS_SERVER: stack.baseUrl, CMS_COMPUTATION: variable } });
    const other = '00000000-0000-8000-8000-000000000000';
    const next = async (variable: string) => (await run(variable)('key', 'show', id)).stderr;
    expect(await next(other)).toBe(`Next: cms key upload KEYFILE.pub ${id}\n`);
    expect(await next(id.toUpperCase())).toBe('Next: cms key upload KEYFILE.pub\n');
    expect((await alice('key', 'show', id)).stderr).toBe('Next: cms key upload KEYFILE.pub\n');
    const file = join(folder, 'unlinked.csv');
    writeFileSync(file, 'a\n');
    const withoutLogin = (variable: object) =>
      cmsIn(join(folder, 'none'), { env: { CMS_SERVER: stack.baseUrl, CMS_DOMAIN: 'd1', CMS_TOKEN: token, ...variable } });
    const token = await stack.token('alice', ['d1:administrator']);
    expect((await withoutLogin({})('asset', 'upload', '--type', 'dataset', file)).stderr).toMatch(
      /Next: cms asset link \S+ COMPUTATION\n/,
    );
    expect((await withoutLogin({ CMS_COMPUTATION: id })('asset', 'upload', '--type', 'dataset', file)).stderr).toMatch(
      /Next: cms asset link \S+\n/,
    );
  });

  it('cms computation use says when the choice cannot be stored, and when CMS_COMPUTATION goes before it', async () => {
    const token = await stack.token('alice', ['d1:administrator']);
    const env = { CMS_SERVER: stack.baseUrl, CMS_DOMAIN: 'd1', CMS_TOKEN: token };
    expect(await cmsIn(join(folder, 'ci'), { env })('computation', 'use', id)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `The default computation is stored with a login, and you have none for the domain d1 at ${stack.baseUrl}. Set CMS_COMPUTATION instead.\nNext: export CMS_COMPUTATION=${id}\n`,
    });
    const hidden = { CMS_SERVER: stack.baseUrl, CMS_COMPUTATION: '00000000-0000-8000-8000-000000000000' };
    expect(await cmsIn(join(folder, 'alice'), { env: hidden })('computation', 'use', id)).toEqual({
      exitCode: 0,
      stdout: `Using "Incomes" (${id}) of alice.\n`,
      stderr: 'CMS_COMPUTATION is set: commands use that computation, and not this one.\nNext: unset CMS_COMPUTATION\n',
    });
  });

  it('a login at the same service and domain keeps the computation, and one elsewhere does not', async () => {
    const used = async () =>
      (JSON.parse(readFileSync(join(folder, 'again', '.config/cms/config.json'), 'utf8')) as Config).profiles;
    interface Config {
      profiles: { default: { user: string; computation?: string } };
    }
    const again = cmsIn(join(folder, 'again'), { env: { CMS_SERVER: stack.baseUrl } });
    await again('login', '--local');
    await again('computation', 'use', id);
    expect((await again('login', '--local')).stderr).toBe('');
    expect((await again('login', '--local', '--user', 'bob')).stderr).toBe(
      'This replaces the login of alice. To keep both, name another profile: --profile NAME, or CMS_PROFILE.\n',
    );
    expect((await used()).default).toMatchObject({ user: 'bob', computation: id });
    await again('login', '--local', '--domain', 'd2');
    expect((await used()).default.computation).toBeUndefined();
    const elsewhere = ['--token', await stack.token('bob', []), '--domain', 'd1', '--server', 'https://api.example.com'];
    expect((await again('login', ...elsewhere)).stderr).toContain(`replaces the login of bob at ${stack.baseUrl}. `);
  });

  it('a user who is not logged in learns how to log in, and the exit code is 3', async () => {
    const nobody = cmsIn(join(folder, 'nobody'), { env: { CMS_SERVER: stack.baseUrl } });
    expect(await nobody('todo')).toEqual({
      exitCode: 3,
      stdout: '',
      stderr: `You are not logged in to ${stack.baseUrl}.\nNext: cms login --local --user USER --server ${stack.baseUrl}\n`,
    });
    const elsewhere = await nobody('todo', '--server', 'https://api.example.com');
    expect(elsewhere.stderr).toContain(
      'Next: cms login --server https://api.example.com --issuer URL --client-id ID --domain DOMAIN',
    );
  });

  it('a token that the service refuses leads to the login that works: as before, with another token, or without the variable', async () => {
    const spoiled = `${await stack.token('alice', ['d1:administrator'])}x`;
    const withVariable = cmsIn(join(folder, 'spoiled'), {
      env: { CMS_SERVER: stack.baseUrl, CMS_DOMAIN: 'd1', CMS_TOKEN: spoiled },
    });
    const refused = await withVariable('todo');
    expect(refused).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('does not accept the token in CMS_TOKEN') });
    expect(refused.stderr).toContain('Next: env -u CMS_TOKEN cms todo\n');
    await alice('login', '--token', spoiled, '--profile', 'other', '--domain', 'd1');
    expect(await alice('todo', '--profile', 'other')).toMatchObject({
      exitCode: 3,
      stderr: 'Your token has expired or is not accepted.\nNext: cms login --token TOKEN --profile other\n',
    });
  });

  it('a domain in which the user has no role is named, with whom to ask, and the exit code is 4', async () => {
    const { exitCode, stderr } = await bob('computation', 'list', '--domain', 'd7');
    expect(exitCode).toBe(4);
    expect(stderr).toContain('bob may not do this in the domain d7');
    expect(stderr).toMatch(/ or ask an administrator of it for a role\.\nNext: cms whoami --domain d7\n$/);
  });

  it('a service that is down is named, and the exit code is 8', async () => {
    const lost = cmsIn(join(folder, 'lost'), { env: { CMS_SERVER: 'http://127.0.0.1:9', CMS_DOMAIN: 'd1' } });
    expect(await lost('login', '--local')).toEqual({
      exitCode: 8,
      stdout: '',
      stderr: 'No service answers at http://127.0.0.1:9.\nNext: PORT=9 npm start\n',
    });
    const token = await stack.token('alice', ['d1:administrator']);
    const withToken = cmsIn(join(folder, 'lost'), {
      env: { CMS_SERVER: 'http://127.0.0.1:9', CMS_DOMAIN: 'd1', CMS_TOKEN: token },
    });
    expect(await withToken('todo')).toMatchObject({
      exitCode: 8,
      stderr: expect.stringContaining('No service answers at http://127.0.0.1:9.\nNext: PORT=9 npm start\n'),
    });
  });

  it('an address with a path leads to what answers there', async () => {
    const token = await stack.token('alice', ['d1:administrator']);
    const server = `${stack.baseUrl}/docs`;
    const lost = cmsIn(join(folder, 'lost'), { env: { CMS_SERVER: server, CMS_DOMAIN: 'd1', CMS_TOKEN: token } });
    expect(await lost('todo')).toMatchObject({
      exitCode: 1,
      stderr: `${server} has no such path. Check the address: --server, CMS_SERVER or that of the profile.\nNext: curl -i ${server}/health\n`,
    });
  });

  it('an https address of a service without TLS leads to its http address, and the exit code is 8', async () => {
    const server = stack.baseUrl.replace('http:', 'https:');
    const message = `${server} does not use https. Check the address: --server, CMS_SERVER or that of the profile.\n`;
    const next = `Next: cms login --local --server ${stack.baseUrl}\n`;
    const lost = cmsIn(join(folder, 'lost'), { env: { CMS_SERVER: server } });
    expect(await lost('login', '--local')).toEqual({ exitCode: 8, stdout: '', stderr: `${message}${next}` });
    expect((await lost('login', '--local', '--server', server)).stderr).toBe(`${message}${next}`);
  });

  it('Ctrl-C ends a command between its attempts, and the exit code is 130', async () => {
    const ending = new AbortController();
    const env = { CMS_SERVER: 'http://127.0.0.1:9', CMS_DOMAIN: 'd1', CMS_TOKEN: await stack.token('alice', []) };
    const err = vi.fn<(text: string) => void>(() => ending.abort());
    const lost = cmsIn(join(folder, 'lost'), { env, signal: ending.signal, err });
    expect(await lost('check', 'Incomes')).toMatchObject({ exitCode: 130 });
    expect(err.mock.calls.map(([text]) => text)).toEqual([expect.stringContaining('Trying again.'), 'Interrupted.\n']);
  });

  it('an error of this machine leads to the help of the command', async () => {
    writeFileSync(join(folder, 'a file'), '');
    const blocked = cmsIn(join(folder, 'a file'), { env: { CMS_SERVER: stack.baseUrl } });
    const { exitCode, stderr } = await blocked('login', '--local');
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(/^ENOTDIR.*\nNext: cms login --help\n$/) });
  });

  it('cms login --local finds the service on the port in PORT, also after a login on another one', async () => {
    const { port } = new URL(stack.baseUrl);
    const elsewhere = cmsIn(join(folder, 'ported'), { env: { PORT: port } });
    expect(await elsewhere('login', '--local')).toMatchObject({ exitCode: 0 });
    const moved = cmsIn(join(folder, 'ported'), { env: { PORT: '9' } });
    expect((await moved('login', '--local')).stderr).toContain(
      'No service answers at http://localhost:9.\nNext: PORT=9 npm start',
    );
    expect(await moved('whoami')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`http://localhost:${port}`) });
  });

  it('a run that lacks something lists it with the command and the user who types it, and the exit code is 7', async () => {
    const { exitCode, stderr } = await alice('run', '--cvm', 'sim-1');
    expect(exitCode).toBe(7);
    expect(stderr).toContain('✗ The public key of alice\n      you type: cms key upload KEYFILE.pub');
    expect(stderr).toContain('✗ An algorithm\n      cms asset upload FILE --type algorithm --computation');
    expect(stderr).toContain('Next: cms check');
  });

  it('a run that takes an approval names who must give it, and how', async () => {
    const keys = `${writeSshKeys(folder)}.pub`;
    const algorithm = join(folder, 'mean.py');
    const dataset = join(folder, 'incomes.csv');
    writeFileSync(algorithm, 'print(1)\n');
    writeFileSync(dataset, 'income\n1\n');
    await alice('key', 'upload', keys);
    await bob('key', 'upload', keys, 'Incomes');
    expect(await bob('key', 'remove', 'Incomes')).toMatchObject({ stdout: 'You have no key on this computation now.\n' });
    expect(await bob('key', 'show', 'Incomes')).toMatchObject({ stdout: 'You have uploaded no key.\n' });
    expect(await bob('key', 'remove', '--user', 'alice', 'Incomes')).toMatchObject({ exitCode: 4 });
    await bob('key', 'upload', keys, 'Incomes');
    expect(await alice('key', 'remove', '--user', 'bob', 'Incomes', '--json')).toMatchObject({ exitCode: 0 });
    expect(await bob('key', 'show', 'Incomes')).toMatchObject({ stdout: 'You have uploaded no key.\n' });
    await bob('key', 'upload', keys, 'Incomes');
    await alice('asset', 'upload', algorithm, '--type', 'algorithm', '--computation', 'Incomes');
    await bob('asset', 'upload', '--type', 'dataset', dataset, '--use', 'approval', '--computation', 'Incomes');
    const checked = await alice('check');
    expect(checked.exitCode).toBe(7);
    expect(checked.stdout).toContain(`✗ Approval of bob for incomes.csv\n      bob types: cms approve ${id}\n`);
    const { exitCode, stderr } = await alice('run', '--cvm', 'sim-1');
    expect(exitCode).toBe(7);
    expect(stderr).toContain(`bob types: cms approve ${id}\n`);
    expect(await bob('approve', id)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`Next: cms approve ${id} --yes\n`),
    });
    const ask = vi.fn<(question: string) => Promise<string>>(async () => 'y');
    const asked = cmsIn(join(folder, 'bob'), { env: { CMS_SERVER: stack.baseUrl }, ask });
    const limits = ['--cvm', 'cvm-7', '--cvm', 'cvm-8', '--expires', '2999-12-31T12:00:00Z'];
    expect(await asked('approve', ...limits, id)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^bob has approved the manifest .*, only on cvm-7, cvm-8, only until 2999-12-31T12:00:00.000Z\.\n$/,
      ),
    });
    expect(ask.mock.calls[0]?.[0]).toContain(
      'with this manifest and this configuration, only on cvm-7, cvm-8, only until 2999-12-31T12:00:00.000Z?',
    );
    writeFileSync(join(folder, 'INCOMES.csv'), 'income\n1\n');
    const [copied = ''] =
      (
        await alice('asset', 'upload', '--type', 'dataset', join(folder, 'INCOMES.csv'), '--computation', 'Incomes', '--json')
      ).stdout.match(/[0-9a-f-]{36}/) ?? [];
    const names = '"incomes.csv" and "INCOMES.csv"';
    expect((await alice('check')).stderr).toMatch(
      `Warning: ${names} have the same content.\nWarning: ${names} have names that look the same.\n`,
    );
    expect(JSON.parse((await alice('check', '--json')).stdout)).toMatchObject({
      warnings: [expect.any(String), expect.any(String)],
    });
    await alice('asset', 'unlink', copied, 'Incomes');
    const { stderr: covered } = await bob('approve', id, '--yes', ...limits);
    expect(covered).toMatch(
      /Dataset 1 +brought by "bob"\n +"incomes.csv", no media type, \d+ bytes\n +SHA3-256(?: \w{8}){8}\n +key SHA256:\S{43} of "bob"\n/,
    );
    expect(covered).toMatch(/Receiver 1 +key SHA256:\S{43} of (?:"alice", "bob"|"bob", "alice")\n/);
    expect(covered).toContain('Only the CVMs "cvm-7", "cvm-8"\n');
    expect(await alice('check')).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^In short\n {2}This allows {2}Your mean\.py reads bob's incomes\.csv on any machine; [^]*\nIncomes is ready to run.\n$/,
      ),
      stderr: 'The approvals are only for runs on cvm-7, cvm-8.\nNext: cms run --cvm cvm-7 --watch\n',
    });
    expect(await bob('approve', id, '--yes', '--json')).toMatchObject({ exitCode: 0 });
    expect(await alice('check')).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^In short\n {2}This allows {2}Your mean\.py reads bob's incomes\.csv on any machine; [^]*\nIncomes is ready to run.\n$/,
      ),
      stderr: 'Next: cms run --cvm sim-1 --watch\n',
    });
  });

  it('cms approve prints no manifest if it cannot read the private key, and exits with 2', async () => {
    expect(await alice('approve', 'Incomes', '--sign', join(folder, 'none'), '--yes')).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(/^There is no file .*\nNext: ls .*\n$/),
    });
  });

  it('cms approve --json asks for no approval of a manifest that it does not show', async () => {
    const asking = cmsIn(join(folder, 'alice'), { env: { CMS_SERVER: stack.baseUrl }, ask: async () => 'y' });
    const { exitCode, stdout, stderr } = await asking('approve', 'Incomes', '--json');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ error: expect.stringContaining('--digest DIGEST'), next: `cms manifest ${id}` });
  });

  it('cms withdraw says the same whether there was an approval or not', async () => {
    expect((await alice('withdraw', 'Incomes', '--yes')).stdout).toBe('You have no approval on this computation now.\n');
  });

  it.each(['viewer', 'administrator'])('a refusal that no role lifts tells a %s that no run needs the approval', async (role) => {
    const vera = cmsIn(join(folder, role), { env: { CMS_SERVER: stack.baseUrl } });
    await vera('login', '--local', '--user', 'vera', '--role', role);
    expect(await vera('approve', id, '--yes')).toMatchObject({
      exitCode: 4,
      stderr: expect.stringMatching(
        /\nvera may not do this .*: Requires being the owner .* No run needs your approval: .*\nNext: cms approvals \S{36}\n$/,
      ),
    });
  });

  it('a refusal that a role lifts says whom to ask, and never how to take the role', async () => {
    const vic = cmsIn(join(folder, 'vic'), { env: { CMS_SERVER: stack.baseUrl } });
    await vic('login', '--local', '--user', 'vic', '--role', 'viewer', '--profile', 'p');
    const refusalOf = async (...words: string[]) => {
      const { stderr } = await vic(...words, '--profile', 'p');
      expect(stderr).not.toContain('--role');
      return /Your roles in this domain: viewer\. (.*\nNext: .*)\n$/.exec(stderr)?.[1];
    };
    expect(await refusalOf('computation', 'create', 'Mine')).toBe(
      'Ask an administrator of the domain for the role creator. Then log in again.\nNext: cms login --profile p',
    );
    expect(await refusalOf('asset', 'delete', 'mean.py', '--yes')).toBe(
      'Ask its creator, or an administrator of the domain.\nNext: cms whoami --profile p',
    );
    expect(await refusalOf('stop', id)).toBe(
      `Ask its owner, or an administrator of the domain for the role runner.\nNext: cms computation show ${id} --profile p`,
    );
  });

  it('a second algorithm leads to the unlinking of the first, also of a link', async () => {
    const other = join(folder, 'other.py');
    writeFileSync(other, 'print(3)\n');
    const uploaded = await alice('asset', 'upload', other, '--type', 'algorithm', '--computation', id);
    const refused = { exitCode: 6, stderr: expect.stringContaining(`Next: cms asset unlink ALGORITHM ${id}\n`) };
    expect(uploaded).toMatchObject(refused);
    const [, asset = ''] = / as (\S+)\n/.exec(uploaded.stdout) ?? [];
    expect(await alice('asset', 'link', asset, id)).toMatchObject(refused);
  });

  it('a signed approval without an uploaded key leads to the upload of the key', async () => {
    const file = writeSshKeys(folder);
    const token = await stack.token('dan', ['d1:dataset_provider']);
    const client = createClient({ baseUrl: stack.baseUrl, domain: 'd1', token });
    const user_key = readFileSync(`${file}.pub`, 'utf8').trim();
    const asset = { file_name: 'ages.csv', asset_type: 'dataset', asset: btoa('age\n1\n'), user_key } as const;
    const { id: assetId } = await client.createAsset({ body: { asset } });
    await client.linkAsset({ id: assetId, computationID: id });
    const dan = cmsIn(join(folder, 'dan'), { env: { CMS_SERVER: stack.baseUrl, CMS_DOMAIN: 'd1', CMS_TOKEN: token } });
    expect(await dan('approve', id, '--sign', file, '--yes')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(new RegExp(`^You have uploaded no key .*\\nNext: cms key upload ${file}\\.pub ${id}\\n$`)),
    });
    await client.unlinkAsset({ id: assetId, computationID: id });
  });

  it('cms run and cms todo name the command that signs, where approvals must be signed', async () => {
    const carol = cmsIn(join(folder, 'carol'), { env: { CMS_SERVER: stack.baseUrl }, userName: 'carol' });
    const algorithm = join(folder, 'median.py');
    writeFileSync(algorithm, 'print(2)\n');
    await carol('login', '--local');
    const { stdout } = await carol('computation', 'create', 'Signed', '--approval', 'all_signed', '--json');
    const signed = JSON.parse(stdout) as { id: string };
    await carol('key', 'upload', `${writeSshKeys(folder)}.pub`);
    await carol('asset', 'upload', algorithm, '--type', 'algorithm', '--computation', 'Signed');
    const command = `cms approve ${signed.id} --sign KEYFILE\n`;
    expect((await carol('run', '--cvm', 'sim-1')).stderr).toContain(`you type: ${command}`);
    await expect.poll(async () => (await carol('todo')).stdout, untilTestEnds).toContain(command);
  });

  it('a registered CVM that is not connected is named, and the exit code is 6', async () => {
    const token = await stack.token('alice', ['d1:administrator']);
    const client = createClient({ baseUrl: stack.baseUrl, domain: 'd1', token });
    await client.registerCvm({ cvmID: 'cvm-9', body: { description: 'in the cellar' } });
    const { exitCode, stderr } = await alice('run', '--cvm', 'cvm-9');
    expect(exitCode).toBe(6);
    expect(stderr).toContain('disconnected');
    expect(stderr).toContain('Next: cms cvm list');
    expect((await alice('cvm', 'list')).stdout).toMatch(/cvm-9 +in the cellar +disconnected +unknown +none +never/);
  });

  it('the outcome of a watched run is the exit code: 0 completed, 10 failed, 11 cancelled', async () => {
    expect(await alice('run', '--cvm', 'sim-2', '--watch')).toMatchObject({ exitCode: 0 });
    const failed = await alice('run', '--cvm', 'sim-fail-1', '--watch', '--json');
    expect(failed.exitCode).toBe(10);
    const lines = failed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { status: string });
    expect(lines.at(-1)).toMatchObject({ status: 'failed', computation_id: id });
    await alice('run', '--cvm', 'sim-slow-1');
    expect(await alice('run', '--cvm', 'sim-1')).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining('Next: cms watch'),
    });
    expect(await bob('stop', id, '--watch')).toMatchObject({ exitCode: 11 });
    const output = join(folder, 'my evidence');
    const saved = await alice('evidence', '--output', output);
    const notes = saved.stderr.replace('Waiting for the log of the service.\n', ''); // on a busy machine
    expect([saved.exitCode, notes]).toEqual([0, `Next: cms verify '${output}'\n`]);
    const run = (JSON.parse(failed.stdout.trim().split('\n').at(-1) ?? '') as { id: string }).id;
    expect(await alice('evidence', '--run', run, '--output', output)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`Next: cms evidence ${id} --run ${run} --output evidence-${run}\n`),
    });
    expect(await alice('evidence', '--output', output)).toMatchObject({ exitCode: 0 });
    expect(await alice('stop')).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining('No run of this computation is active.'),
    });
  });

  it('an asset whose content has not arrived is named with the command of its creator, and that command fills it', async () => {
    const token = await stack.token('alice', ['d1:administrator']);
    const client = createClient({ baseUrl: stack.baseUrl, domain: 'd1', token });
    const file = join(folder, "bob's data.csv");
    writeFileSync(file, 'income\n2\n');
    const body = { asset: { file_name: "bob's data.csv", asset_type: 'dataset' } } as const;
    const { id: asset } = await client.createAsset({ body });
    await client.linkAsset({ id: asset, computationID: id });
    const command = `cms asset upload 'bob'\\''s data.csv' --asset ${asset}`;
    expect((await alice('check')).stdout).toContain(`✗ The content of "bob's data.csv"\n      its creator types: ${command}\n`);
    expect((await alice('run', '--cvm', 'sim-1')).stderr).toContain('its creator types: cms todo\n');
    const asked = `Upload the content of "bob's data.csv"\n    ${command}\n`;
    const todo = async () => (await alice('todo')).stdout.replace(/^ {2}Created .*\n/gm, '');
    await expect.poll(todo, untilTestEnds).toContain(asked);
    expect(await alice('asset', 'upload', file, '--asset', asset, '--name', 'other')).toMatchObject({ exitCode: 2 });
    expect(await bob('asset', 'upload', file, '--asset', asset)).toEqual({
      exitCode: 4,
      stdout: '',
      stderr: "Only alice uploads the content of bob's data.csv. You are bob.\nNext: cms whoami\n",
    });
    const filled = await alice('asset', 'upload', file, '--asset', asset);
    expect(filled).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`as ${asset}\n`) });
    expect(await alice('asset', 'upload', file, '--asset', asset)).toMatchObject({ exitCode: 0, stdout: filled.stdout });
    writeFileSync(file, 'income\n3\n');
    expect(await alice('asset', 'upload', file, '--asset', asset)).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining('has content already, under the hash'),
    });
    expect((await alice('check')).stdout).not.toContain("bob's data.csv\n      its creator");
    await alice('asset', 'unlink', asset);
  });

  it('an unknown computation exits with 5', async () => {
    expect(await alice('check', 'Nothing')).toEqual({
      exitCode: 5,
      stdout: '',
      stderr: 'The domain d1 has no computation named "Nothing".\nNext: cms computation list\n',
    });
    expect(await alice('computation', 'show', '00000000-0000-8000-8000-000000000000')).toMatchObject({ exitCode: 5 });
  });

  it('a command to type next works at the same place: it has the options of the one that was typed', async () => {
    await alice('login', '--local', '--profile', 'two words', '--domain', 'd2');
    const options = ['--profile', 'two words', '--server', stack.baseUrl];
    const tail = `--server ${stack.baseUrl} --profile 'two words'\n`;
    expect((await alice('computation', 'list', ...options)).stderr).toBe(`Next: cms computation create NAME ${tail}`);
    expect((await alice('check', 'Nothing', ...options)).stderr).toContain(`Next: cms computation list ${tail}`);
    const created = await alice('computation', 'create', 'Elsewhere', ...options);
    expect(created.stderr).toMatch(new RegExp(`Next: cms asset upload FILE .* ${tail}`));
    expect((await alice('check', ...options)).stdout).toMatch(new RegExp(`you type: cms key upload .* ${tail}`));
    expect((await alice('stop', '--profile', 'two words')).stderr).toMatch(
      /Next: cms computation show .* --profile 'two words'\n/,
    );
  });

  it('with --json a computation is printed without the private key of its agent, and a change keeps the key', async () => {
    const client = createClient({
      baseUrl: stack.baseUrl,
      domain: 'd1',
      token: await stack.token('alice', ['d1:administrator']),
    });
    const agent_config = { cert_file: '/etc/agent.pem', server_key: '/etc/agent.key' };
    const keyed = await client.createComputation({ body: { name: 'Keyed', agent_config } });
    for (const args of [['show'], ['update', '--description', 'changed']]) {
      const { stdout } = await alice('computation', ...args, keyed.id, '--json');
      const shown = (JSON.parse(stdout) as typeof keyed).agent_config;
      expect(shown).toMatchObject({ cert_file: '/etc/agent.pem' });
      expect(shown).not.toHaveProperty('server_key');
    }
    expect(await client.getComputation({ id: keyed.id })).toMatchObject({ description: 'changed', agent_config });
  });

  it('with --json an error is one line of JSON on standard error', async () => {
    const { stdout, stderr } = await alice('check', 'Nothing', '--json');
    expect(stdout).toBe('');
    expect(JSON.parse(stderr)).toEqual({
      error: 'The domain d1 has no computation named "Nothing".',
      next: 'cms computation list',
      exit_code: 5,
    });
  });

  it('a private key is refused in every form before anything is sent, and the public one beside it is named', async () => {
    const nobody = cmsIn(join(folder, 'nobody'), { env: { CMS_SERVER: stack.baseUrl } });
    const isPrivate = (file: string) => `${file}: This is a private key. Never share it. `;
    const file = writeSshKeys(join(folder, 'keys'));
    const { exitCode, stderr } = await nobody('key', 'upload', file, 'A b', '--profile', 'p');
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(isPrivate(file)) });
    expect(stderr).toMatch(new RegExp(`\\nNext: cms key upload ${file}\\.pub 'A b' --profile p\\n$`));
    const forms = {
      'id.ppk': 'PuTTY-User-Key-File-3: ssh-ed25519\r\nEncryption: none\r\n',
      'id.der': generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' }),
    };
    for (const [name, content] of Object.entries(forms)) {
      const other = join(folder, name);
      writeFileSync(other, content);
      expect(await nobody('key', 'upload', other)).toEqual({
        exitCode: 2,
        stdout: '',
        stderr: expect.stringMatching(new RegExp(`^${isPrivate(other)}.*\\nNext: cms key upload KEYFILE\\.pub\\n$`)),
      });
    }
  });

  it('the login is in a file that only its user can read', () => {
    const file = join(folder, 'alice', '.config', 'cms', 'config.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each(['constructor', '__proto__'])('a profile named %s, as a member of every object, keeps its login', async (name) => {
    const profile = ['--profile', name];
    expect(await alice('whoami', ...profile)).toMatchObject({ exitCode: 3 });
    expect(await alice('login', '--local', '--user', 'dan', ...profile)).toMatchObject({ exitCode: 0 });
    await alice('login', '--local', '--user', 'eve', '--profile', 'another');
    expect((await alice('whoami', ...profile)).stdout).toContain('dan');
    expect(await alice('logout', ...profile)).toMatchObject({ stdout: 'Logged out.\n' });
    expect(await alice('whoami', ...profile)).toMatchObject({ exitCode: 3 });
    expect((await alice('whoami')).stdout).toContain('alice');
  });

  it('a CMS_TOKEN that is no token leads to the same command without it', async () => {
    const cms = cmsIn(join(folder, 'alice'), { env: { CMS_SERVER: stack.baseUrl, CMS_TOKEN: 'secret' } });
    expect(await cms('todo')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringMatching(
        /^The token is not a JSON Web Token with a user \(sub\)\.\nNext: env -u CMS_TOKEN cms todo\n$/,
      ),
    });
  });

  it('with --json the help and the version are JSON, and so is an error where a command is missing', async () => {
    expect(await alice('--version', '--json')).toEqual({ exitCode: 0, stdout: '{"version":"0.1.0"}\n', stderr: '' });
    const { stdout } = await alice('run', '--help', '--json');
    expect(JSON.parse(stdout)).toEqual({ help: expect.stringMatching(/^Usage: cms run/) });
    const { exitCode, stderr } = await alice('--json');
    expect([exitCode, JSON.parse(stderr)]).toEqual([2, { error: 'Missing command', exit_code: 2, next: 'cms --help' }]);
    expect((await alice('run', '--help')).stdout).toMatch(/^Usage: cms run/);
  });

  it('a line without a command shows the help, and does not lead to it', async () => {
    for (const args of [[], ['asset'], ['key'], ['cvm'], ['computation']]) {
      const { exitCode, stdout, stderr } = await alice(...args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toMatch(new RegExp(`^Usage: ${['cms', ...args].join(' ')} `));
      expect(stderr).not.toContain('Next:');
    }
  });

  it('the value of an option is not taken for the command that is explained', async () => {
    expect((await alice('--profile', 'run', 'todo', '--bogus')).stderr).toContain('Next: cms todo --help\n');
  });

  it('a text of --token that is no token leads to the same command with another one', async () => {
    expect(await alice('login', '--token', 'abc', '--domain', 'd1', '--profile', 'other')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringMatching(/^The token is not .*\nNext: cms login --token TOKEN --domain d1 --profile other\n$/),
    });
  });

  it('cms whoami says when a token has expired, or expires', async () => {
    const now = Math.floor(Date.now() / 1_000);
    const line = async (exp: number) => {
      const token = `e30.${Buffer.from(JSON.stringify({ sub: 'alice', exp })).toString('base64url')}.c2ln`;
      const env = { CMS_SERVER: stack.baseUrl, CMS_DOMAIN: 'd1', CMS_TOKEN: token };
      return (await cmsIn(join(folder, 'none'), { env, now: () => now * 1_000 })('whoami')).stdout;
    };
    expect(await line(now - 7)).toMatch(/^Token +expired 7 seconds ago$/m);
    expect(await line(now)).toMatch(/^Token +expired now$/m);
    expect(await line(now + 7)).toMatch(/^Token +expires in 7 seconds$/m);
  });

  it('cms events says so if nothing was found, and exits with 5 if there is no such run', async () => {
    expect(await alice('events', id, '--type', 'Unheard')).toMatchObject({ exitCode: 0, stdout: 'Nothing found.\n' });
    const unknown = { exitCode: 5, stderr: `No such run of this computation in this domain.\nNext: cms runs ${id}\n` };
    expect(await alice('events', id, '--run', 'nonsense')).toMatchObject(unknown);
    const { id: fresh } = JSON.parse((await alice('computation', 'create', 'Never run', '--json')).stdout) as { id: string };
    const never = { exitCode: 5, stderr: `This computation has no run yet.\nNext: cms check ${fresh}\n` };
    for (const command of ['evidence', 'review', 'result']) expect(await alice(command, fresh)).toMatchObject(never);
    await alice('computation', 'use', id);
    expect(await alice('events', id, '--run', 'nonsense', '--follow')).toMatchObject(unknown);
  });

  it('a thing is named by its name, its file name, its identifier or the beginning of that, and a mistake by what is near', async () => {
    const file = join(folder, 'wages 2026.csv');
    writeFileSync(file, 'wage\n1\n');
    const made = await alice('computation', 'create', 'Wages', '--json');
    const { id: wages } = JSON.parse(made.stdout) as { id: string };
    const uploaded = await alice('asset', 'upload', file, '--type', 'dataset', '--computation', 'Wages', '--json');
    const [{ id: asset }] = (JSON.parse(uploaded.stdout) as { items: [{ id: string }] }).items;
    await vi.waitFor(async () => {
      for (const [thing, name, found] of [
        ['computation', 'Wages', wages],
        ['computation', wages.toUpperCase(), wages],
        ['computation', wages.slice(0, 20), wages],
        ['asset', 'wages 2026.csv', asset],
        ['asset', asset.slice(0, 18), asset],
      ] as const) {
        expect((await alice(thing, 'show', name)).stdout).toMatch(new RegExp(`Identifier +${found}\n`));
      }
    }, untilTestEnds);
    for (const [thing, name, near] of [
      ['computation', 'Wgaes', `"Wages" (${wages})`],
      ['computation', 'wages', `"Wages" (${wages})`],
      ['computation', 'Wage', `"Wages" (${wages})`],
      ['asset', 'wages', `"wages 2026.csv" (${asset})`],
    ] as const) {
      expect(await alice(thing, 'show', name)).toMatchObject({
        exitCode: 5,
        stderr: `The domain d1 has no ${thing} named "${name}". Did you mean ${near}?\nNext: cms ${thing} list\n`,
      });
    }
    await bob('asset', 'upload', file, '--type', 'dataset');
    await vi.waitFor(
      async () =>
        expect(await alice('asset', 'delete', 'wages 2026.csv', '--yes')).toMatchObject({
          exitCode: 2,
          stderr: expect.stringMatching(
            /^Several assets are named "wages 2026\.csv"\. Use an identifier:\n {2}\S+ of bob\n {2}\S+ of alice\nNext: cms asset list\n$/,
          ),
        }),
      untilTestEnds,
    );
  });

  it('cms key add gives the key of a user to all computations that wait for it, and asks first', async () => {
    const key = `${writeSshKeys(join(folder, 'alice'))}.pub`;
    await alice('key', 'add', key, '--yes');
    for (const name of ['One', 'Two']) await alice('computation', 'create', name);
    await vi.waitFor(async () => {
      expect(await alice('key', 'add', key)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(/"Two" \(\S+\) of alice\n[^]*"One" \(\S+\) of alice\n/),
      });
    }, untilTestEnds);
    expect((await alice('key', 'add', key, '--yes')).stdout).toMatch(
      /^Uploaded SHA256:\S{43} to:\n {2}"Two" \(\S+\) of alice\n {2}"One" \(\S+\) of alice\n$/,
    );
    const done = async () => expect((await alice('key', 'add', key)).stdout).toBe('No computation waits for your key.\n');
    await vi.waitFor(done, untilTestEnds);
  });

  it('cms cvm register registers a CVM, changes what options name, and cms cvm show takes its whole identifier', async () => {
    await alice('cvm', 'register', 'gpu-node-1', '--description', 'A machine');
    expect(await alice('cvm', 'register', 'gpu-node-1', '--agent-url', 'cvm.example.com:7002')).toMatchObject({ exitCode: 0 });
    await vi.waitFor(
      async () =>
        expect((await alice('cvm', 'show', 'gpu-node-1')).stdout).toMatch(
          /Description +A machine\n[^]*Agent URL +cvm\.example\.com:7002\n/,
        ),
      untilTestEnds,
    );
    expect(await alice('cvm', 'register', 'gpu-node-1', '--agent-url', 'x')).toMatchObject({ exitCode: 2 });
    expect(await alice('cvm', 'show', 'gpu-')).toMatchObject({ exitCode: 5 });
  });

  it('two parties and the owner of an algorithm come from nothing to a verified proof in eleven commands', async () => {
    const study = join(folder, 'study.yaml');
    const names = ['carol', 'dan', 'erin'] as const;
    const keys = names.map((name) => writeSshKeys(join(folder, name)));
    for (const name of ['mean.py', 'wages.csv']) writeFileSync(join(folder, name), `${name}\n`);
    writeFileSync(
      study,
      `computation: { name: Mean wage, owner: carol, approval: all_signed, consumers: [carol], providers: [dan, erin] }
parties:
  carol: { key: ~/.ssh/id_ed25519.pub }
  dan: { key: ~/.ssh/id_ed25519.pub, assets: [{ file: mean.py, type: algorithm }] }
  erin: { key: ~/.ssh/id_ed25519.pub, assets: [{ file: wages.csv, type: dataset }] }
`,
    );
    const lines = [
      ...names.map((name, index) => [
        name,
        'login',
        '--local',
        '--role',
        ['creator', 'algo_provider', 'dataset_provider'][index] ?? '',
      ]),
      ...names.map((name) => [name, 'init', study, '--yes']),
      ...names.map((name, index) => [name, 'approve', '--sign', keys[index] ?? '', '--yes']),
      ['carol', 'run', '--cvm', 'sim-9', '--watch'],
      ['erin', 'evidence', '--verify', '--output', join(folder, 'proof')],
    ];
    expect(lines).toHaveLength(11);
    let last = '';
    for (const [name = '', ...line] of lines) {
      const cms = cmsIn(join(folder, name), { env: { CMS_SERVER: stack.baseUrl }, userName: name });
      const ran = await cms(...line);
      expect({ line, ...ran }).toMatchObject({ exitCode: 0 });
      last = ran.stdout;
    }
    expect(last).toMatch(/Everything that was checked holds/);
    expect(last).toContain('with a signature "dan", "erin", "carol"');
    const erin = cmsIn(join(folder, 'erin'), { env: { CMS_SERVER: stack.baseUrl } });
    expect(await erin('run', '--again')).toMatchObject({ exitCode: 4 });
    const carol = cmsIn(join(folder, 'carol'), { env: { CMS_SERVER: stack.baseUrl } });
    expect(await carol('run', '--again')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('on sim-9.\n') });
    const status = await carol('status');
    expect(status.stdout).toMatch(
      /^To do: 1 approval, 0 keys, 0 content\nActive runs: 1\n {2}"Mean wage" on sim-9, running since /,
    );
    await carol('stop', '--watch');
    await carol('approve', '--sign', keys[0] ?? '', '--expires', '7d', '--yes');
    const client = createClient({ baseUrl: stack.baseUrl, domain: 'd1', token: await stack.token('carol', ['d1:creator']) });
    for (let count = 0; count < 20; count++) await client.createComputation({ body: { name: `Newer ${count}` } });
    expect((await carol('status')).stdout).toMatch(
      /\nApprovals given on this machine that expire: 1\n {2}"Mean wage" expires in [67] days\n$/,
    );
  });

  it('cms help explains a command of commands, in groups, and cms status and doctor say where things stand', async () => {
    expect((await alice('help', 'computation', 'list')).stdout).toMatch(/^Usage: cms computation list /);
    expect((await alice('help')).stdout).toMatch(/\nDecide:\n[^]*\nExamples:\n[^]*\nGuide: docs\/command-line\.md\n/);
    expect(await alice('help', 'asset', 'nope')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('cms asset --help'),
    });
    expect((await alice('-v')).stdout).toBe('0.1.0\n');
    writeSshKeys(join(folder, 'alice'));
    const { exitCode, stdout } = await alice('doctor');
    expect({ exitCode, marks: stdout.match(/^. \w+/gm) }).toEqual({
      exitCode: 0,
      marks: ['✓ server', '✓ clock', '✓ token', '✓ key', '✓ proxy', '✓ machine'],
    });
    const late = cmsIn(join(folder, 'nobody'), { env: { CMS_SERVER: stack.baseUrl }, now: () => Date.now() - 120_000 });
    const ill = JSON.parse((await late('doctor', '--json')).stdout) as {
      items: { check: string; ok: boolean; detail: string }[];
    };
    expect(ill.items.filter(({ ok }) => !ok).map(({ check }) => check)).toEqual(['clock', 'token', 'key']);
    expect(ill.items[1]?.detail).toMatch(/^The clock of this machine is 1[12]\d s behind that of the service\./);
  });

  it('a terminal is asked for what is missing', async () => {
    const questions: string[] = [];
    const answers = ['Asked', 'sim-1', 'dataset', join(folder, 'wages.csv'), ''];
    const asking = cmsIn(join(folder, 'alice'), {
      env: { CMS_SERVER: stack.baseUrl },
      ask: async (question) => {
        questions.push(question);
        return answers.shift() ?? '';
      },
    });
    expect(await asking('computation', 'create')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Asked') });
    expect(await asking('run')).toMatchObject({ exitCode: 7 });
    answers.unshift(answers.splice(1, 1)[0] ?? '');
    expect(await asking('asset', 'upload')).toMatchObject({ exitCode: 0 });
    expect(await asking('computation', 'delete')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("'COMPUTATION'"),
    });
    expect(questions).toEqual([
      'NAME: ',
      'The CVM that takes the run: ',
      'FILE: ',
      'Its type, algorithm or dataset: ',
      'COMPUTATION: ',
    ]);
  });
});
