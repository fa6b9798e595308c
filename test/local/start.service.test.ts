import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vkeyOf } from 'computation-management-transparency-log';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { descendantsOf, isAlive, ownPort } from '../support/service-process.ts';
import { startCommand, welcome } from '../../local/start.ts';
import { tokenCommand } from '../../tools/commands/token.ts';
import { callAs, readyComputation } from '../support/ready-computation.ts';
import { repeating } from '../support/repeating-call.ts';

const environment = (port: number | string) => ({ ...process.env, PORT: String(port) });

const running = new Set<ReturnType<typeof spawn>>();
afterEach(() => {
  vi.unstubAllEnvs();
  for (const child of running) child.kill('SIGKILL');
});

async function start(port: number, ...args: string[]) {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../local/start.ts'), '--no-console', ...args], {
    env: environment(port),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve)).finally(() => running.delete(child));
  await expect.poll(() => output).toContain('Ctrl-C');
  return {
    output,
    pid: child.pid ?? 0,
    end: async (signal: NodeJS.Signals) => {
      child.kill(signal);
      return await exited;
    },
  };
}

function run(command: string, port: number | string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, '../..', command), ...args], {
    env: environment(port),
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('npm start', () => {
  it('prints a token that works and commands for its own port, and leaves no process behind after SIGINT', async () => {
    const port = await ownPort();
    const service = await start(port);
    expect(service.output).toContain(`http://localhost:${port}/docs`);
    const printed = ['run --silent token', 'run cvm'].map((name) => service.output.includes(`PORT=${port} npm ${name} -- `));
    expect(printed).toEqual([true, true]);
    const token = /^export TOKEN=(\S+)$/m.exec(service.output)?.[1];
    const response = await fetch(`http://localhost:${port}/d1/computations`, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
    const below = descendantsOf(service.pid);
    expect(below.length).toBeGreaterThan(0);
    expect(await service.end('SIGINT')).toBe(0);
    await expect.poll(() => below.filter(isAlive)).toEqual([]);
    await expect(fetch(`http://localhost:${port}/health`)).rejects.toThrow();
  });

  it('leaves no process behind when it is killed', async () => {
    const service = await start(await ownPort());
    const below = descendantsOf(service.pid);
    await service.end('SIGKILL');
    await expect.poll(() => below.filter(isAlive)).toEqual([]);
  });

  it('keeps state and tokens over a SIGTERM with --data, leaves no process behind, and goes on with the runs that it interrupted', async () => {
    const data = mkdtempSync(join(tmpdir(), 'data-'));
    const port = await ownPort();
    const first = await start(port, '--data', data, '--no-simulator');
    const call = repeating(callAs(`http://localhost:${port}`, /^export TOKEN=(\S+)$/m.exec(first.output)?.[1] ?? ''));
    const id = await readyComputation(call);
    await call('POST', `/d1/computations/${id}/run?cvm=cvm-1`);
    const below = descendantsOf(first.pid);
    expect(await first.end('SIGTERM')).toBe(0);
    await expect.poll(() => below.filter(isAlive)).toEqual([]);

    const second = await start(port, '--data', data, '--no-simulator');
    expect((await call('GET', '/d1/computations')).body).toMatchObject({ computations: [{ id, status: 'running' }], total: 1 });
    expect((await call('GET', `/d1/computations/${id}/run`)).body).toMatchObject({ status: 'running', ended_at: null });
    const { assets } = (await call('GET', '/d1/assets')).body as { assets: { id: string }[] };
    expect((await call('GET', `/d1/assets/${String(assets[0]?.id)}`)).body['asset']).toBe(btoa('print(1)'));
    await second.end('SIGTERM');
    rmSync(data, { recursive: true });
  });

  it('exits with 1 and names another port when its port is taken', async () => {
    const port = await ownPort();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    expect(run('local/start.ts', port)).toEqual({
      status: 1,
      stdout: '',
      stderr: `Port ${port} is taken. Choose another one: PORT=${port + 1} npm start\n`,
    });
    other.close();
  });

  it('lets web pages of this machine and of --cors-origin call the API, and refuses an option that is no origin', async () => {
    const port = await ownPort();
    const service = await start(port, '--no-simulator', '--cors-origin', 'https://app.example.com');
    const allowedFor = async (origin: string) => {
      const response = await fetch(`http://localhost:${port}/health`, { headers: { origin } });
      return response.headers.get('access-control-allow-origin');
    };
    const origins = ['https://app.example.com', 'http://localhost:5173', 'https://other.example.com'];
    expect(await Promise.all(origins.map(allowedFor))).toEqual([...origins.slice(0, 2), null]);
    await service.end('SIGTERM');
    const message = expect.stringContaining('expected an origin such as https://app.example.com');
    await expect(startCommand(['--cors-origin', 'example.com'])).rejects.toMatchObject({ name: 'UsageError', message });
  });

  it('submits the first checkpoint of its log to the witness of --witness, and refuses an option that names none', async () => {
    const asked: string[] = [];
    const witness = createHttpServer(({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(404).end();
    });
    await once(witness.listen(0, '127.0.0.1'), 'listening');
    const { port: at } = witness.address() as AddressInfo;
    const vkey = vkeyOf('witness.example.com', randomBytes(32), 'cosignature');
    const service = await start(await ownPort(), '--no-simulator', '--witness', `http://127.0.0.1:${at},${vkey}`);
    expect(asked).toContain('/add-checkpoint');
    await service.end('SIGTERM');
    witness.close();
    const message = expect.stringContaining('expected the address and the vkey of a witness');
    const others = ['ftp://127.0.0.1', 'localhost:80', 'file:///tmp', 'http:witness'].map((address) => `${address},${vkey}`);
    for (const text of [vkey, 'http://127.0.0.1', `http://127.0.0.1,${vkeyOf('log', randomBytes(32))}`, ...others])
      await expect(startCommand(['--witness', text])).rejects.toMatchObject({ name: 'UsageError', message });
  });

  it('prints a mistake on the command line with its usage, and exits with 2', () => {
    const stderr = expect.stringMatching(/^Unknown option '--nope'.*\n\nUsage: npm start/);
    expect(run('local/start.ts', 3000, '--nope')).toEqual({ status: 2, stdout: '', stderr });
  });

  it.each([
    [['stray'], /^Unexpected argument 'stray'/],
    [['--data'], /^Option '--data <value>' argument missing/],
    [['--test-evidence', '--no-simulator'], /leave --no-simulator and GATEWAY_HOST out/],
  ])('refuses the arguments %j', async (args, message) => {
    const refused = { name: 'UsageError', message: expect.stringMatching(message) };
    await expect(startCommand(args)).rejects.toMatchObject(refused);
  });

  it('refuses to trust test keys for CVMs of other machines', async () => {
    vi.stubEnv('GATEWAY_HOST', '0.0.0.0');
    const refused = { name: 'UsageError', message: expect.stringContaining('leave --no-simulator and GATEWAY_HOST out') };
    await expect(startCommand(['--test-evidence'])).rejects.toMatchObject(refused);
  });

  it('refuses a PORT that is not a port number', async () => {
    vi.stubEnv('PORT', '70000');
    const refused = { name: 'UsageError', message: 'PORT is "70000"; expected a number from 0 to 65535.' };
    await expect(startCommand([])).rejects.toMatchObject(refused);
  });
});

describe('npm run token', () => {
  it('prints a token of the running service, and nothing else', async () => {
    const port = await ownPort();
    const service = await start(port);
    const { status, stdout } = run(
      'tools/commands/token.ts',
      port,
      '--sub',
      'bob',
      '--groups',
      'd1:viewer,d2:administrator',
      '--expires-in',
      '90s',
    );
    expect(status).toBe(0);
    expect(stdout).toMatch(/^\S+\n$/);
    const claims = JSON.parse(Buffer.from(stdout.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
    expect(claims).toMatchObject({ sub: 'bob', 'cognito:groups': ['d1:viewer', 'd2:administrator'] });
    expect(Number(claims['exp']) - Number(claims['iat'])).toBe(90);
    const refused = run('tools/commands/token.ts', port, '--sub', 'bob', '--groups', 'd1:king');
    const stderr = expect.stringMatching(/Expected <domainID>:<role>[^]*\n\nUsage: npm run --silent token/);
    expect(refused).toEqual({ status: 2, stdout: '', stderr });
    await service.end('SIGTERM');
  });

  it('fails and tells how to start the service when it is not running', async () => {
    vi.stubEnv('PORT', String(await ownPort()));
    const failure = { name: 'Error', message: expect.stringContaining('Start the service with `npm start`') };
    await expect(tokenCommand(['--sub', 'bob', '--groups', 'd1:viewer'])).rejects.toMatchObject(failure);
  });

  it.each([
    [['--groups', 'd1:viewer'], '--sub is required.'],
    [['--sub', 'bob', '--groups', 'd1:viewer', '--expires-in', 'soon'], '--expires-in is "soon"; expected 90s, 30m, 12h or 7d.'],
  ])('refuses the arguments %j', async (args, message) => {
    await expect(tokenCommand(args)).rejects.toMatchObject({ name: 'UsageError', message });
  });
});

const facts = {
  baseUrl: 'http://localhost:3000',
  version: '0.1.0',
  token: 'token',
  simulator: true,
  testEvidence: true,
  withConsole: false,
  dataDirectory: 'data',
  gateway: 'localhost:40001',
  isGatewayMoved: true,
};

describe('what npm start prints', () => {
  it('says that attestation proves nothing with test evidence', () => {
    expect(welcome(facts)).toContain('PROVES NOTHING: public test keys are trusted');
    expect(welcome({ ...facts, testEvidence: false })).not.toContain('test keys');
  });

  it('says that enrolled CVMs do not find the gateway if its usual port is taken', () => {
    expect(welcome(facts)).toContain('Its usual port is taken. CVMs that were enrolled');
    expect(welcome({ ...facts, isGatewayMoved: false })).not.toContain('Its usual port is taken.');
    expect(welcome({ ...facts, dataDirectory: undefined })).not.toContain('Its usual port is taken.');
  });
});
