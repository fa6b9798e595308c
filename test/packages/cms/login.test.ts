import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause } from 'computation-management-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileCache } from '../../support/compile-cache.ts';
import { locked, openProfiles, type Profile } from '../../../packages/cms/profile/profile.ts';
import { tokenOf, withToken } from '../../../packages/cms/profile/token.ts';
import { ownPort } from '../../support/service-process.ts';
import { startAnswering, startAnsweringServer } from '../../support/answering-server.ts';
import { type IssuerServer, startIssuerServer } from '../../support/issuer-server.ts';
import { cmsIn } from './fake-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-'));
let server: IssuerServer;
let issuer: string;
const place = ['--server', 'https://api.example.com', '--domain', 'd1'];

beforeAll(async () => {
  server = await startIssuerServer();
  ({ issuer } = server);
  Object.assign(server.claims, { sub: 'alice', 'cognito:groups': ['d1:creator', 'd2:viewer'] });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

function kept(): { credentials: Record<string, string>; user: string } {
  const content = JSON.parse(readFileSync(join(folder, '.config/cms/config.json'), 'utf8')) as {
    profiles: { default: { credentials: Record<string, string>; user: string } };
  };
  return content.profiles.default;
}

describe('the token of a profile', () => {
  const profile = (access_token: string, expires_at: number): Profile => ({
    server: 'https://api.example.com',
    domain: 'd1',
    user: 'alice',
    access_token,
    expires_at,
    credentials: { kind: 'issuer', issuer, client_id: 'cms', refresh_token: 'works once' },
  });

  const terminal = { env: {}, signal: new AbortController().signal, noteWait: () => undefined };
  const stored = async (name: string, first: Profile) => {
    const profiles = openProfiles({ env: {}, home: join(folder, name) });
    await profiles.change('default', () => first);
    return profiles;
  };

  it('is renewed once by commands that run at the same time, although the refresh token works once and the issuer is slow', async () => {
    const used: (string | null)[] = [];
    const strict = await startAnswering(async ({ method, body, headers }) => {
      const address = `http://${String(headers['host'])}`;
      if (method === 'GET') return { issuer: address, token_endpoint: `${address}/token` };
      used.push(new URLSearchParams(body).get('refresh_token'));
      const count = used.length;
      await pause(100);
      if (used.indexOf(used[count - 1] ?? '') !== count - 1) return { error: 'invalid_grant' };
      return { access_token: tokenOfAlice({ jti: count }), token_type: 'bearer', expires_in: 600, refresh_token: `r${count}` };
    });
    const credentials = { kind: 'issuer', issuer: strict.endpoint, client_id: 'cms', refresh_token: 'r0' } as const;
    const profiles = await stored('at-once', { ...profile('old', 0), credentials });
    const sources = Array.from({ length: 6 }, () => tokenOf(profiles, 'default', terminal));
    expect(new Set(await Promise.all(sources.map((source) => source({}))))).toEqual(new Set([tokenOfAlice({ jti: 1 })]));
    const refused = { refused: tokenOfAlice({ jti: 1 }) };
    expect(new Set(await Promise.all(sources.map((source) => source(refused))))).toEqual(new Set([tokenOfAlice({ jti: 2 })]));
    expect(used).toEqual(['r0', 'r1']);
    await strict.stop();
  });

  it('that arrives soon after Ctrl-C is stored, with the refresh token that takes the place of the one before', async () => {
    const ending = new AbortController();
    server.onNextTokens(() => ending.abort());
    const profiles = await stored('ended', profile('old', 0));
    await tokenOf(profiles, 'default', { ...terminal, signal: ending.signal })({});
    expect(ending.signal.aborted).toBe(true);
    expect(await profiles.read('default')).toMatchObject({
      credentials: { refresh_token: expect.not.stringMatching('works once') },
    });
  });

  it.each([
    ['a program', { kind: 'program', issuer: '', client_id: 'cms' }],
    ['npm start', { kind: 'local', user: 'alice', roles: [] as string[] }],
  ] satisfies [string, Profile['credentials']][])('of %s is not waited for after Ctrl-C', async (_, credentials) => {
    const silent = await startAnsweringServer();
    const ending = new AbortController();
    silent.answerWith(() => ending.abort(new Error('Ctrl-C')));
    const expired = { ...profile('old', 0), server: silent.endpoint, credentials: { ...credentials, issuer: silent.endpoint } };
    const profiles = await stored(credentials.kind, expired);
    const given = { ...terminal, env: { CMS_CLIENT_SECRET: 's' }, signal: ending.signal };
    await expect(tokenOf(profiles, 'default', given)({})).rejects.toThrow('Ctrl-C');
    await silent.stop();
  });

  it.each([
    [
      'beside what another command has changed',
      () => ({ ...profile('old', 0), computation: 'c1' }),
      { computation: 'c1', user: 'alice' },
    ],
    ['not after a logout', () => undefined, undefined],
    ['not over another login', () => profile('of the other', 0), { access_token: 'of the other' }],
  ])('is stored %s meanwhile', async (name, meanwhile, outcome) => {
    const profiles = await stored(name, profile('old', 0));
    let changed: Promise<void> | undefined;
    server.onNextTokens(() => {
      changed = profiles.change('default', meanwhile);
    });
    const source = tokenOf(
      { ...profiles, change: async (...given) => changed?.then(() => profiles.change(...given)) },
      'default',
      terminal,
    );
    await source({});
    const kept = await profiles.read('default');
    if (outcome === undefined) expect(kept).toBeUndefined();
    else expect(kept).toMatchObject(outcome);
  });

  it('expires by the clock of this machine, although that is an hour ahead', () => {
    const now = Math.floor(Date.now() / 1_000);
    const claims = { sub: 'alice', iat: now - 3_600, exp: now };
    const token = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
    expect(withToken(profile('old', 0), token).expires_at).toBeGreaterThanOrEqual(now + 3_600);
  });
});

describe('cms login', () => {
  it('opens the browser at the issuer, and stores who came back; without options it does so again', async () => {
    const opened: string[] = [];
    const cms = cmsIn(folder, {
      openPage: (url) => {
        opened.push(url);
        void fetch(url); // the issuer signs in without a question, and redirects
      },
    });
    expect(await cms('login', ...place, '--issuer', issuer, '--client-id', 'cms')).toMatchObject({
      exitCode: 0,
      stdout: 'Logged in to https://api.example.com as alice, creator in the domain d1.\n',
    });
    expect(kept()).toMatchObject({ user: 'alice', credentials: { kind: 'issuer', issuer, client_id: 'cms' } });
    expect(await cms('login')).toMatchObject({ exitCode: 0 });
    expect(opened).toHaveLength(2);
    expect((await cms('whoami')).stdout).toMatch(/Memberships +d1:creator\n +d2:viewer/);
  });

  it('takes the secret of a program from CMS_CLIENT_SECRET, and does not store it', async () => {
    const cms = cmsIn(folder, { env: { CMS_CLIENT_SECRET: 'very secret' } });
    expect(await cms('login', ...place, '--issuer', issuer, '--client-id', 'robot')).toMatchObject({ exitCode: 0 });
    expect(kept().credentials).toEqual({ kind: 'program', issuer, client_id: 'robot' });
  });

  it('without options and CMS_CLIENT_SECRET asks for the secret of a program again, and opens no browser', async () => {
    const home = join(folder, 'program');
    await cmsIn(home, { env: { CMS_CLIENT_SECRET: 's' } })('login', ...place, '--issuer', issuer, '--client-id', 'robot');
    const opened: string[] = [];
    const ending = new AbortController();
    const openPage = (url: string) => {
      opened.push(url);
      ending.abort();
    };
    const cms = cmsIn(home, { openPage, signal: ending.signal });
    expect(await cms('login')).toMatchObject({
      exitCode: 3,
      stderr: 'Set CMS_CLIENT_SECRET to the secret of robot.\nNext: export CMS_CLIENT_SECRET=SECRET\n',
    });
    expect(opened).toEqual([]);
  });

  it('without options comes back to the same port, until the issuer is named again', async () => {
    const redirects: (string | null)[] = [];
    const openPage = (url: string) => {
      redirects.push(new URL(url).searchParams.get('redirect_uri'));
      void fetch(url);
    };
    const cms = cmsIn(join(folder, 'port'), { openPage });
    const port = await ownPort();
    const login = ['login', ...place, '--issuer', issuer, '--client-id', 'cms'];
    expect(await cms(...login, '--port', String(port))).toMatchObject({ exitCode: 0 });
    expect(await cms('login')).toMatchObject({ exitCode: 0 });
    expect(await cms(...login)).toMatchObject({ exitCode: 0 });
    const known = `http://127.0.0.1:${port}/callback`;
    expect(redirects).toEqual([known, known, expect.not.stringContaining(`:${port}/`)]);
  });

  it('without options shows a code for another device again, if the first login did', async () => {
    const device = await startAnsweringServer();
    const { endpoint } = device;
    const access_token = `e30.${Buffer.from(JSON.stringify({ sub: 'alice' })).toString('base64url')}.c2ln`;
    const answers: Record<string, object> = {
      '/device': { device_code: 'd', user_code: 'ABCD', verification_uri: `${endpoint}/go`, expires_in: 60, interval: 0.01 },
      '/token': { access_token, token_type: 'bearer', expires_in: 60 },
    };
    const discovered = {
      issuer: endpoint,
      authorization_endpoint: `${endpoint}/sign-in`,
      token_endpoint: `${endpoint}/token`,
      device_authorization_endpoint: `${endpoint}/device`,
    };
    device.answerWith(({ url = '' }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers[url] ?? discovered));
    });
    const ending = new AbortController();
    const cms = cmsIn(join(folder, 'device'), { openPage: () => ending.abort(), signal: ending.signal });
    const shown = { exitCode: 0, stderr: `Open ${endpoint}/go and type the code ABCD\n` };
    const login = ['login', ...place, '--issuer', endpoint, '--client-id', 'cms', '--scope', 'api', '--device'];
    expect(await cms(...login)).toMatchObject(shown);
    expect(await cms('login')).toMatchObject(shown);
    await device.stop();
  });

  it('says that an issuer refuses the secret of a program, and exits with 3; that it takes no more requests, with 8', async () => {
    const cms = cmsIn(folder, { env: { CMS_CLIENT_SECRET: 'wrong' } });
    const strict = await startAnsweringServer();
    const answers = [
      { status: 401, headers: { 'www-authenticate': 'Basic' }, body: { error: 'invalid_client' } },
      { status: 429, headers: {}, body: { error: 'too_many_requests' } },
    ];
    strict.answerWith(({ method }, response) => {
      const discovered = {
        status: 200,
        headers: {},
        body: { issuer: strict.endpoint, token_endpoint: `${strict.endpoint}/token` },
      };
      const { status, headers, body } = (method === 'POST' ? answers.shift() : undefined) ?? discovered;
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    });
    const login = ['login', ...place, '--issuer', strict.endpoint, '--client-id', 'robot'];
    const next = `\nNext: cms ${login.join(' ')}\n`;
    expect(await cms(...login)).toMatchObject({ exitCode: 3, stderr: `The issuer refused: invalid_client${next}` });
    expect(await cms(...login)).toMatchObject({
      exitCode: 8,
      stderr: `The issuer refused: too_many_requests. Try again in a minute.${next}`,
    });
    await strict.stop();
  });

  it('says why an issuer cannot be used', async () => {
    const cms = cmsIn(folder);
    const given = [...place, '--client-id', 'cms', '--issuer'];
    expect(await cms('login', ...given, issuer, '--device')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('does not support sign-in with a code'),
    });
    expect(await cms('login', ...given, 'http://127.0.0.1:9')).toMatchObject({
      exitCode: 8,
      stderr: expect.stringContaining('No answer from the issuer'),
    });
  });

  it('ends at Ctrl-C with 130, in the browser as on another device', async () => {
    const ending = new AbortController();
    const cms = cmsIn(folder, { signal: ending.signal, openPage: () => ending.abort() });
    const login = ['login', ...place, '--issuer', issuer, '--client-id', 'cms'];
    expect(await cms(...login)).toMatchObject({ exitCode: 130, stderr: expect.stringMatching(/\nInterrupted\.\n$/) });
    expect(await cms(...login, '--device')).toMatchObject({ exitCode: 130, stderr: 'Interrupted.\n' });
  });

  it('says that CMS_TOKEN goes before the login', async () => {
    const cms = cmsIn(folder, { env: { CMS_CLIENT_SECRET: 'very secret', CMS_TOKEN: 'T' } });
    expect((await cms('login', ...place, '--issuer', issuer, '--client-id', 'robot')).stderr).toContain(
      'Next: env -u CMS_TOKEN cms whoami\n',
    );
  });

  it('asks for missing settings', async () => {
    const cms = cmsIn(join(folder, 'new'));
    expect(await cms('login', '--server', 'https://api.example.com')).toMatchObject({
      exitCode: 2,
      stderr: 'Choose a domain.\nNext: cms login --server https://api.example.com --domain DOMAIN --issuer URL --client-id ID\n',
    });
    expect((await cms('login', '--token', 'T', '--server', 'https://api.example.com')).stderr).toContain(
      'Next: cms login --token TOKEN --server https://api.example.com --domain DOMAIN\n',
    );
    expect(await cms('login')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Next: cms login --local --user USER\n'),
    });
    expect(await cms('login', '--domain', 'd1')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Next: cms login --domain d1 --local --user USER\n'),
    });
  });

  it('is removed by cms logout', async () => {
    const cms = cmsIn(folder);
    expect(await cms('logout')).toMatchObject({ stdout: 'Logged out.\n' });
    expect(await cms('whoami')).toMatchObject({ exitCode: 3 });
  });
});

const tokenOfAlice = (claims: object = {}) =>
  `e30.${Buffer.from(JSON.stringify({ sub: 'alice', ...claims })).toString('base64url')}.c2ln`;

describe('cms login --token', () => {
  const login = async (token: string) => await cmsIn(join(folder, 'given'))('login', ...place, '--token', token);

  it.each([tokenOfAlice(), ` ${tokenOfAlice()}\n`, `Bearer ${tokenOfAlice()}`, `bearer  ${tokenOfAlice()}\r\n`])(
    'stores %j as a header takes it',
    async (token) => {
      expect(await login(token)).toMatchObject({ exitCode: 0 });
      const { profiles } = JSON.parse(readFileSync(join(folder, 'given/.config/cms/config.json'), 'utf8')) as {
        profiles: Record<string, Profile>;
      };
      expect(profiles['default']?.access_token).toBe(tokenOfAlice());
    },
  );

  it.each([`${tokenOfAlice()}\u200b`, `${tokenOfAlice()}é`, tokenOfAlice().replace('.', '. '), 'x', 'a.b', 'Bearer '])(
    'refuses %j',
    async (token) => {
      expect(await login(token)).toMatchObject({
        exitCode: 3,
        stderr: expect.stringContaining('The token is not a JSON Web Token'),
      });
    },
  );

  it('keeps what the same user approved and trusts on this machine, and nothing of another user', async () => {
    const home = join(folder, 'again');
    const cms = cmsIn(home);
    const login = (sub: string) => cms('login', ...place, '--token', tokenOfAlice({ sub }));
    const { read, change } = openProfiles({ env: {}, home });
    const approved = { c1: { manifest_digest: 'a', configuration_digest: 'b' } };
    const keys = { a1: { file: '/k', checksum: 'c', release_policy: null } };
    const kept = { approved, keys, evidence_key: 'thumbprint' };
    await login('alice');
    await change('default', (stored) => stored && { ...stored, ...kept });
    await login('alice');
    expect(await read('default')).toMatchObject(kept);
    await login('bob');
    const ofBob = (await read('default')) ?? {};
    expect(Object.keys(kept).filter((name) => name in ofBob)).toEqual([]);
  });

  it('refuses a token that has expired', async () => {
    const token = tokenOfAlice({ exp: Math.floor(Date.now() / 1_000) - 7_200 });
    expect(await login(token)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('The token expired 2 hours ago.\n'),
    });
  });
});

describe('the file of profiles', () => {
  it('loses nothing when commands log in, choose and log out at the same time', async () => {
    const home = join(folder, 'parallel');
    const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
    const cms = cmsIn(home);
    const login = (name: string) => cms('login', ...place, '--token', tokenOfAlice(), '--profile', name);
    await Promise.all(names.slice(6).map(login));
    const logout = names.slice(6, 9).map((name) => cms('logout', '--profile', name));
    expect(await Promise.all([...names.slice(0, 6).map(login), ...logout])).toMatchObject(
      names.slice(3).map(() => ({ exitCode: 0 })),
    );
    const { profiles } = JSON.parse(readFileSync(join(home, '.config/cms/config.json'), 'utf8')) as { profiles: object };
    expect(Object.keys(profiles).sort()).toEqual(names.filter((_, index) => index < 6 || index > 8).sort());
    expect(readdirSync(join(home, '.config/cms'))).toEqual(['config.json']);
  });

  it('is changed although killed commands left locks, whatever their time', async () => {
    const order: string[] = [];
    const isLeft = [-3_600, 31_536_000].map(async (ahead) => {
      const lock = join(folder, `left${ahead}.lock`);
      mkdirSync(lock);
      const time = Date.now() / 1_000 + ahead;
      utimesSync(lock, time, time);
      await Promise.all(['a', 'b', 'c', 'd'].map((each) => locked(lock, async () => void order.push(`${ahead}${each}`))));
      return existsSync(lock);
    });
    expect(await Promise.all(isLeft)).toEqual([false, false]);
    expect(new Set(order).size).toBe(8);
  });

  it('is not waited for longer than the limit while another command works on it', async () => {
    const lock = join(folder, 'held.lock');
    const held = Promise.withResolvers<undefined>();
    const holder = locked(lock, () => held.promise);
    const failed = await locked(lock, async () => undefined, { longestWait: 50 }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ exitCode: 8, message: expect.stringContaining(`${lock} for more than`) });
    held.resolve(undefined);
    await holder;
  });

  it('is that to which a link leads, also if it is not there yet', async () => {
    const home = join(folder, 'linked');
    mkdirSync(join(home, '.config/cms'), { recursive: true });
    symlinkSync('../../elsewhere.json', join(home, '.config/cms/config.json'));
    for (const name of ['one', 'two']) await cmsIn(home)('login', ...place, '--token', tokenOfAlice(), '--profile', name);
    expect(readFileSync(join(home, 'elsewhere.json'), 'utf8')).toMatch(/"one"[^]*"two"/);
    expect(lstatSync(join(home, '.config/cms/config.json')).isSymbolicLink()).toBe(true);
  });

  it('is read with a byte order mark, and kept under another name if it is damaged', async () => {
    const home = join(folder, 'marked');
    const file = join(home, '.config/cms/config.json');
    await cmsIn(home)('login', ...place, '--token', tokenOfAlice());
    writeFileSync(file, `\ufeff${readFileSync(file, 'utf8')}`);
    expect(await cmsIn(home)('whoami')).toMatchObject({ exitCode: 0 });
    writeFileSync(file, '{');
    expect((await cmsIn(home)('whoami')).stderr).toContain(`\nNext: mv ${file} ${file}.damaged\n`);
  });

  it('is never in the folder where a command is typed', async () => {
    const relative = cmsIn('', { env: { XDG_CONFIG_HOME: 'config' } });
    expect(await relative('login', ...place, '--token', tokenOfAlice())).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('neither HOME nor XDG_CONFIG_HOME is an absolute path'),
    });
    const home = join(folder, 'absolute');
    await cmsIn(home, { env: { XDG_CONFIG_HOME: 'config' } })('login', ...place, '--token', tokenOfAlice());
    expect(existsSync(join(home, '.config/cms/config.json'))).toBe(true);
  });
});

describe('a user whom this machine does not know by name, as in a container,', () => {
  const nameless = `
    import os from 'node:os';
    import { syncBuiltinESMExports } from 'node:module';
    os.userInfo = () => { throw new Error('ENOENT: no such file or directory, uv_os_get_passwd'); };
    const { homedir } = os;
    os.homedir = () => {
      if (process.env.HOME === undefined) throw new Error('ENOENT: no such file or directory, uv_os_homedir');
      return homedir();
    };
    syncBuiltinESMExports();
  `;
  const cms = (env: Record<string, string | undefined>, ...args: string[]) => {
    const preload = `data:text/javascript,${encodeURIComponent(nameless)}`;
    const program = join(import.meta.dirname, '../../../packages/cms/cms.ts');
    const options = { encoding: 'utf8', env: { ...compileCache, HOME: join(folder, 'nameless'), ...env } } as const;
    const { status, stderr } = spawnSync(process.execPath, ['--import', preload, program, ...args], options);
    return { status, stderr };
  };

  it('types every command, and needs --user or USER for cms login --local alone', () => {
    const login = ['login', '--local', '--server', 'http://127.0.0.1:9'];
    expect(cms({}, '--version')).toEqual({ status: 0, stderr: '' });
    expect(cms({}, ...login)).toEqual({
      status: 2,
      stderr: `You have no user name on this machine.\nNext: cms ${login.join(' ')} --user USER\n`,
    });
    expect(cms({ USER: 'alice' }, ...login)).toMatchObject({ status: 8, stderr: expect.stringContaining('No service answers') });
  });

  it('and who has no HOME is told so by the commands that need a login, alone', () => {
    expect(cms({ HOME: undefined }, '--version')).toEqual({ status: 0, stderr: '' });
    expect(cms({ HOME: undefined }, 'whoami')).toEqual({
      status: 1,
      stderr:
        'There is no place for logins: neither HOME nor XDG_CONFIG_HOME is an absolute path.\nNext: export HOME=DIRECTORY\n',
    });
  });
});
