import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTable, startDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { openIssuer } from '../../local/sign-in/issuer.ts';
import { localCredentials, local } from '../../local/machine/environment.ts';
import { type LocalS3, startS3 } from '../../local/s3/s3.ts';
import { startStack } from '../../local/stack.ts';
import { documentClient, type Table } from '../../shared/table/table.ts';
import { schemaKeys } from '../../shared/table/keys.ts';
import { putItem } from '../../shared/table/writes.ts';
import { oneOf } from '../support/amounts.ts';
import { patientDeadline } from '../support/embedded-table.ts';
import { callAs, readyComputation, type Call } from '../support/ready-computation.ts';
import { repeating } from '../support/repeating-call.ts';
import { s3At } from '../support/s3-at.ts';
import { killServices, startService } from '../support/service-process.ts';

let data: string;

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'kept-'));
});
afterEach(() => {
  killServices();
  rmSync(data, { recursive: true, force: true, maxRetries: 5 });
});

/** Starts the service in its own process. */
const onData = (limits?: string) => startService(['--data', data], limits);
const inProcess = (dataDirectory: string) => startStack({ port: 0, simulator: false, dataDirectory });

/** Uses the service in this process. */
async function whileInProcess(use: (call: Call) => Promise<unknown>): Promise<void> {
  const { baseUrl, token, stop } = await inProcess(data);
  try {
    await use(repeating(callAs(baseUrl, await token('alice', ['d1:administrator']))));
  } finally {
    await stop();
  }
}

const contentOf = async (call: Call) => {
  const { assets } = (await call('GET', '/d1/assets')).body as { assets: { id: string }[] };
  return (await call('GET', `/d1/assets/${String(assets[0]?.id)}`)).body['asset'];
};

/** Works on the kept table while no service does. */
async function onTable<T>(work: (table: Table) => Promise<T>): Promise<T> {
  const engine = await startDynamoDb({ dataDirectory: data });
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'local', credentials: localCredentials });
  try {
    await createTable(engine.endpoint, local.tableName);
    return await work({ name: local.tableName, document: documentClient(client), deadline: patientDeadline });
  } finally {
    client.destroy();
    await engine.stop();
  }
}

async function putObject({ endpoint }: LocalS3): Promise<void> {
  const client = s3At(endpoint);
  await client.send(new PutObjectCommand({ Bucket: 'content', Key: 'o', Body: 'some text' }));
  client.destroy();
}

/** Lists every file of the kept state, except the additional files of SQLite. */
function keptFiles(): string[] {
  const entries = readdirSync(data, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.filter((file) => !/dynamodb\.sqlite-|service\.lock/.test(file)).sort();
}

describe('a broken file of the kept state', () => {
  it('is named at the start with instructions, and the state is complete once it is restored', async () => {
    await whileInProcess(readyComputation);
    const [file = '', ...others] = keptFiles().filter((each) => /s3\/.*\.json$/.test(each));
    expect(others).toEqual([]);
    const whole = readFileSync(file);
    truncateSync(file, 0);
    const service = await onData();
    expect(await service.exited).toBe(1);
    expect(service.output()).toContain(`${file}: it is empty.`);
    expect(service.output()).toContain('Restore it from a backup, or delete it, and start again.');
    writeFileSync(file, whole);
    await whileInProcess(async (call) => expect(await contentOf(call)).toBe(btoa('print(1)')));
  });

  const parts = {
    s3: () => startS3({ bucket: 'content', dataDirectory: data, notifiedPrefix: 'none/', onObjectCreated: () => undefined }),
    issuer: async () => {
      await openIssuer({ claim: 'groups', dataDirectory: data });
      return { stop: async () => undefined };
    },
    dynamoDb: async () => {
      const dynamoDb = await startDynamoDb({ dataDirectory: data });
      await createTable(dynamoDb.endpoint, 'things').catch(async (error: unknown) => {
        await dynamoDb.stop();
        throw error;
      });
      return dynamoDb;
    },
  };

  it.each([
    ['s3', '.json', [0, 0.5], /\.json: it is (empty|not complete JSON)\./],
    ['s3', '.data', [0, 0.5], /\.json: it describes \S+\.data with 9 bytes, but that file has [04]\./],
    [
      'issuer',
      'issuer.json',
      [0, 0.5],
      /issuer\.json: it is (empty|not complete JSON)\.[^]*Restore it from a backup, or delete it, and start again\./,
    ],
    ['dynamoDb', 'dynamodb.sqlite', [0.01, 0.5], /dynamodb\.sqlite/],
  ] as const)('of %s (%s) is named at the start', async (part, ending, shares, message) => {
    const before = await parts[part]();
    if (part === 's3') await putObject(before as LocalS3);
    await before.stop();
    const file = keptFiles().find((name) => name.endsWith(ending)) ?? '';
    const whole = readFileSync(file);
    for (const share of shares) {
      truncateSync(file, Math.floor(whole.length * share));
      await expect(parts[part]()).rejects.toThrow(message);
      writeFileSync(file, whole);
    }
    await (await parts[part]()).stop();
  });
});

describe('a limit on the size of files', () => {
  it.each(oneOf([24, 200]))('of %d blocks leaves a directory that the next start reads in full', async (blocks) => {
    const limited = await onData(`ulimit -f ${blocks}`);
    const acknowledged = new Map<string, string>();
    for (let size = 1_000; size <= 64_000 && !limited.hasEnded(); size *= 4) {
      const content = Buffer.alloc(size, 'x').toString('base64');
      const asset = { file_name: `${size}.csv`, asset_type: 'dataset', asset: content };
      const answer = await callAs(limited.baseUrl, limited.token)('POST', '/d1/assets', { asset }).catch(() => undefined);
      if (answer?.status === 201) acknowledged.set(String(answer.body['id']), content);
      else expect([undefined, 500, 503]).toContain(answer?.status);
    }
    await limited.end('SIGKILL');
    expect(limited.output()).not.toMatch(/Unexpected end|SyntaxError/);

    await whileInProcess(async (call) => {
      for (const [id, content] of acknowledged) expect((await call('GET', `/d1/assets/${id}`)).body['asset']).toBe(content);
      expect(keptFiles().filter((file) => file.endsWith('.unfinished'))).toEqual([]);
    });
  });
});

describe('a start', () => {
  it('completes a purge that a kill interrupted', async () => {
    const first = await onData();
    const asset = { file_name: 'iris.csv', asset_type: 'dataset', asset: btoa('5.1,3.5') };
    const { body } = await first.call('POST', '/d1/assets', { asset });
    expect((await first.call('DELETE', `/d1/assets/${String(body['id'])}`)).status).toBe(204);
    await first.end('SIGKILL');
    const contents = () => keptFiles().filter((file) => file.endsWith('.data') && !file.startsWith(join(data, 'log')));
    expect(contents()).toHaveLength(1);
    const second = await inProcess(data);
    await second.stop(); // after what it does in the background
    expect(contents()).toEqual([]);
  });
});

describe('a data directory that cannot be used', () => {
  it('is refused if its data has another schema version', async () => {
    await onTable((table) => putItem(table, { ...schemaKeys.version, schema: 2 }));
    const message = 'The data has schema version 2. This service knows only version 1.';
    await expect(inProcess(data)).rejects.toThrow(message);
  });

  it('is named at the start with the reason', async () => {
    mkdirSync(join(data, 'service.lock'));
    await expect(inProcess(data)).rejects.toThrow(`Cannot lock ${data}: EISDIR`);
    const file = join(data, 'file');
    writeFileSync(file, '');
    await expect(inProcess(file)).rejects.toThrow(`Cannot lock ${file}: EEXIST`);
  });
});

describe('a second service on the same directory', () => {
  it('is refused with the directory and the process that uses it, and the first service keeps its run', async () => {
    const first = await onData();
    const id = await readyComputation(first.call);
    await first.call('POST', `/d1/computations/${id}/run?cvm=cvm-1`);
    await expect(inProcess(data)).rejects.toThrow(`${data} is in use by another service (process ${first.pid})`);
    expect((await first.call('GET', `/d1/computations/${id}/run`)).body['ended_at']).toBeNull();
    await first.end('SIGTERM');
  });
});
