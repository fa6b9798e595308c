import { once } from 'node:events';
import { mkdtempSync, rmSync, accessSync, constants, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTable, startDynamoDb, engineBinary } from '../../../local/dynamodb/dynamodb.ts';
import { freePort } from '../../../local/machine/listen.ts';
import { localCredentials } from '../../../local/machine/environment.ts';
import { enginesOf, isAlive, killServices, type ServiceProcess, startService } from '../../support/service-process.ts';
import { readyComputation } from '../../support/ready-computation.ts';

let data: string;

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'engine-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  killServices();
  rmSync(data, { recursive: true, force: true, maxRetries: 5 });
});

const health = async ({ baseUrl }: ServiceProcess) => {
  const response = await fetch(`${baseUrl}/health`);
  return { status: response.status, type: response.headers.get('content-type'), body: (await response.json()) as object };
};

function kill(engine: number): void {
  if (isAlive(engine)) process.kill(engine, 'SIGKILL');
}

describe('the DynamoDB engine', () => {
  it('that is killed restarts with its state, and /health answers 503 while it hangs', async () => {
    const service = await startService(['--data', data]);
    const id = await readyComputation(service.call);
    for (const engine of enginesOf(service)) kill(engine);
    await expect.poll(async () => (await health(service)).status).toBe(200);
    expect((await service.call('GET', `/d1/computations/${id}`)).status).toBe(200);
    expect(service.output()).toContain('The embedded DynamoDB engine ended');

    const [engine] = enginesOf(service);
    if (engine === undefined) throw new Error('The service has no engine.');
    process.kill(engine, 'SIGSTOP');
    onTestFinished(() => {
      if (isAlive(engine)) process.kill(engine, 'SIGCONT');
    });
    // On a busy machine, its other threads go on until its main thread has got the signal.
    await expect
      .poll(() => health(service))
      .toEqual({
        status: 503,
        type: 'application/problem+json',
        body: expect.objectContaining({ code: 'unavailable', detail: 'The DynamoDB engine does not answer.' }),
      });
    process.kill(engine, 'SIGCONT');
    await expect.poll(async () => (await health(service)).status).toBe(200);
    expect(await service.end('SIGTERM')).toBe(0);
    expect(isAlive(engine)).toBe(false);
  });

  it('listens on another port if the one that was free is that of another engine by now', async () => {
    const other = await startDynamoDb();
    const taken = Number(new URL(other.endpoint).port);
    const ports = [taken, await freePort()];
    const engine = await startDynamoDb({ findPort: async () => ports.shift() ?? 0 });
    expect(engine.endpoint).not.toBe(other.endpoint);
    await engine.stop();
    await other.stop();
  });

  it('whose port another program takes before the restart is reported as lost, and counts as away', async () => {
    const lost: string[] = [];
    const firstPauseInMilliseconds = 500; // enough to take the port in this process
    const engine = await startDynamoDb({
      dataDirectory: data,
      onLost: ({ message }) => lost.push(message),
      firstPauseInMilliseconds,
    });
    const port = Number(new URL(engine.endpoint).port);
    expect(engine.isListening()).toBe(true);
    for (const each of enginesOf(process)) kill(each);
    while (engine.isListening()) await setImmediate();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    await expect.poll(() => lost).toEqual([expect.stringContaining(`another program took its port ${port}`)]);
    expect(lost[0]).toContain(`The state is kept in ${join(data, 'dynamodb.sqlite')}.`);
    expect(engine.isListening()).toBe(false);
    await engine.stop();
    other.close();
  });

  it('that finds no shell is reported with the reason', async () => {
    vi.stubEnv('PATH', data);
    const started = startDynamoDb({ dataDirectory: data });
    await expect(started).rejects.toThrow('failed to start: it needs the shell sh, which cannot be run (spawn sh ENOENT)');
  });

  it('that keeps being killed is restarted five times, and is then reported as lost', async () => {
    const lost: string[] = [];
    const engine = await startDynamoDb({
      dataDirectory: data,
      onLost: ({ message }) => lost.push(message),
      firstPauseInMilliseconds: 1,
    });
    const killed = new Set<number>();
    await expect
      .poll(() => {
        for (const each of enginesOf(process)) {
          killed.add(each);
          kill(each);
        }
        return lost;
      })
      .toEqual([expect.stringContaining('keeps ending')]);
    expect(killed.size).toBe(6);
    await engine.stop();
  });

  it('that is killed in memory ends the service with a message and exit code 1', async () => {
    const service = await startService([]);
    for (const engine of enginesOf(service)) kill(engine);
    expect(await service.exited).toBe(1);
    expect(service.output()).toContain('The state was in memory and is lost.\nStopping the service.');
  });
});

describe('a table that the disk had no room for', () => {
  it('is created by the next start, although the engine lists it', async () => {
    const first = await startDynamoDb({ dataDirectory: data });
    await createTable(first.endpoint, 'half-made');
    await first.stop();
    const file = new DatabaseSync(join(data, 'dynamodb.sqlite'));
    file.exec('DROP TABLE "half-made"');
    file.close();
    const engine = await startDynamoDb({ dataDirectory: data });
    await createTable(engine.endpoint, 'half-made');
    const client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'local', credentials: localCredentials });
    const Key = { pk: { S: 'a' }, sk: { S: 'b' } };
    await client.send(new PutItemCommand({ TableName: 'half-made', Item: Key }));
    expect((await client.send(new GetItemCommand({ TableName: 'half-made', Key }))).Item).toEqual(Key);
    client.destroy();
    await engine.stop();
  });
});

const { optionalDependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  optionalDependencies: Record<string, string>;
};

describe('engineBinary', () => {
  it('returns a program for this platform', () => {
    expect(() => accessSync(engineBinary(), constants.X_OK)).not.toThrow();
  });

  it.each(['darwin-arm64', 'darwin-x64', 'linux-arm64'])(
    'throws an error with the command that installs it on %s',
    (platform) => {
      const command = `npm install --no-save @dynoxide/${platform}@${optionalDependencies['@dynoxide/linux-x64']}`;
      expect(() => engineBinary(platform)).toThrow(`\n  ${command}\n`);
    },
  );

  it('throws an error that names another engine on a platform without one, as docs/one-machine.md does', () => {
    const commands = ['docker run -d -p 8000:8000 amazon/dynamodb-local', 'DYNAMODB_ENDPOINT=http://localhost:8000 npm start'];
    expect(() => engineBinary('win32-x64')).toThrow(`\n  ${commands.join('\n  ')}\n`);
    const document = readFileSync(new URL('../../../docs/one-machine.md', import.meta.url), 'utf8');
    expect(document).toContain(`\n    ${commands.join('\n    ')}\n`);
  });
});
