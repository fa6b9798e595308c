import { randomBytes } from 'node:crypto';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import {
  consistencyProof,
  openNote,
  parseCheckpoint,
  readEntries,
  rootOf,
  type Tree,
  verifyConsistency,
} from 'computation-management-transparency-log';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { integrateChanged, integrateEntries, readLogIdentity, type StageLog } from '../../../shared/history/index.ts';
import { checkpointPath, readObject, tileReader } from '../../../shared/history/log-store.ts';
import { historyKeys, type Key } from '../../../shared/table/keys.ts';
import { getItem, type Item } from '../../../shared/table/table.ts';
import { deleteItems, putItems } from '../../../shared/table/writes.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { stageLogOf, startStores, type Stores } from '../../support/builders-store.ts';
import { tableThrough } from '../../support/embedded-table.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { setTestEnvironment } from '../../support/test-environment.ts';

let stores: Stores;
let stage: StageLog;
beforeAll(async () => {
  stores = await startStores();
  setTestEnvironment(stores.endpoints);
  stage = stageLogOf(stores);
});
afterAll(() => stores.stop());

const random = seededRandom(sampleSeed);
const below = (limit: number) => Math.floor(random() * limit);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const tagOf = (entry: Uint8Array) => hex(entry.subarray(0, 32));
let minute = 0;

async function addEntries(entries: Uint8Array[]): Promise<void> {
  minute += 1;
  const waits_since = new Date(Date.UTC(2025, 6, 17) + minute * 60_000).toISOString();
  await putItems(
    stage.table,
    entries.map((entry): Item & Key => ({ ...historyKeys.waiting(tagOf(entry)), entry, waits_since })),
  );
}

/** The parts of the input of a call that tests look at. */
interface Sent {
  Key?: unknown;
  Body?: unknown;
  UpdateExpression?: string;
}

/** The bucket of the log, with calls that go through `around`. */
function storeThrough(around: (send: () => Promise<unknown>, command: { input: Sent }) => Promise<unknown>): StageLog['store'] {
  const { client } = stage.store;
  const send = (...sent: [{ input: Sent }, ...unknown[]]) =>
    around(() => (client.send as (...sent: unknown[]) => Promise<unknown>).apply(client, sent), sent[0]);
  const through = new Proxy(client, {
    get: (target, name) => (name === 'send' ? send : (Reflect.get(target, name) as unknown)),
  });
  return { ...stage.store, client: through };
}

/** A process that dies before it publishes a checkpoint. */
function dyingBeforePublishing(): StageLog {
  const store = storeThrough((send, { input }) => {
    if (input.Key === checkpointPath && input.Body !== undefined) throw new Error('The process is dead.');
    return send();
  });
  return { ...stage, store };
}

/** An integration whose calls of the table and of storage are let through one at a time. */
interface Process {
  isOver: boolean;
  /** Lets the next call through, if there is one before the end. */
  step: () => Promise<void>;
}

/** Starts an integration that dies at one of its calls, before the call takes effect or after it. */
function startIntegration(callsLeft: number): Process {
  const waiting: (() => Promise<void>)[] = [];
  let arrival = Promise.withResolvers<undefined>();
  let left = callsLeft;
  const isLate = random() < 0.5;
  const around = (send: () => Promise<unknown>) =>
    new Promise((resolve, reject) => {
      waiting.push(async () => {
        left -= 1;
        if (left > 0 || (left === 0 && isLate)) {
          const answer = send();
          await answer.catch(() => undefined);
          if (left > 0) return resolve(answer);
        }
        return reject(new Error('The process is dead.'));
      });
      arrival.resolve(undefined);
    });
  const parts = { ...stage, table: tableThrough(stage.table, around), store: storeThrough(around) };
  const end = integrateEntries(parts).then(
    () => (process.isOver = true),
    () => (process.isOver = true),
  );
  const process: Process = {
    isOver: false,
    step: async () => {
      while (waiting.length === 0 && !process.isOver) {
        arrival = Promise.withResolvers();
        await Promise.race([arrival.promise, end]);
      }
      const [call] = waiting.splice(below(waiting.length), 1);
      await call?.();
    },
  };
  return process;
}

/**
 * Lets up to three integrations work at once, in an order of their calls that the seed decides, until all have ended or died.
 * @param meanwhile called now and then between two calls
 */
async function integrateAtOnce(meanwhile: () => Promise<void>): Promise<void> {
  const processes = Array.from({ length: 1 + below(3) }, () => startIntegration(1 + below(120)));
  for (let alive = processes; alive.length > 0; alive = alive.filter(({ isOver }) => !isOver)) {
    const next = alive[below(alive.length)];
    for (let steps = below(20); steps >= 0; steps--) await next?.step();
    if (random() < 0.3) await meanwhile();
  }
}

async function itemsOfLog(): Promise<(Item & Key)[]> {
  const { Items = [] } = await stage.table.document.send(
    new ScanCommand({
      TableName: stage.table.name,
      FilterExpression: 'begins_with(pk, :history)',
      ExpressionAttributeValues: { ':history': 'history' },
      ConsistentRead: true,
    }),
  );
  return Items as (Item & Key)[];
}

async function restore(items: (Item & Key)[]): Promise<void> {
  await deleteItems(stage.table, await itemsOfLog());
  await putItems(stage.table, items);
}

async function published(): Promise<Tree> {
  const found = await readObject(stage.store, checkpointPath);
  if (!found) return { size: 0, root: await rootOf(0, tileReader(stage.store)) };
  const { vkey } = await readLogIdentity(stage.kms);
  return parseCheckpoint((await openNote(Buffer.from(found.bytes).toString(), [vkey])).text);
}

/** Throws if the log does not continue a checkpoint that was published before. */
async function expectContinued(before: Tree): Promise<Tree> {
  const now = await published();
  const proof = before.size === 0 ? [] : await consistencyProof(before.size, now.size, tileReader(stage.store));
  expect({ seed: sampleSeed, isContinued: verifyConsistency(before, now, proof) }).toEqual({
    seed: sampleSeed,
    isContinued: true,
  });
  return now;
}

const entriesOfLog = async ({ size }: Tree) => (await readEntries(0, size, size, tileReader(stage.store))).map(hex);

describe('integrateEntries', () => {
  it('publishes an empty log at first, and then nothing without an entry', async () => {
    expect(await integrateEntries(stage)).toBe(0);
    const first = await readObject(stage.store, checkpointPath);
    await integrateEntries(stage);
    expect(await readObject(stage.store, checkpointPath)).toEqual(first);
    expect((await published()).size).toBe(0);
  });

  it('puts each entry exactly once, and contradicts no checkpoint, with three at once that die anywhere, and after restores', async () => {
    let last = await published();
    const added = new Map((await entriesOfLog(last)).map((entry) => [entry.slice(0, 64), entry]));
    const mustStay = new Set(added.values());
    let saved = { items: await itemsOfLog(), added: new Map(added) };
    for (let step = 0; step < amount({ sample: 10, full: 600 }); step++) {
      const add = async (count: number) => {
        const entries = Array.from({ length: count }, () => randomBytes(64));
        await addEntries(entries);
        for (const entry of entries) added.set(tagOf(entry), hex(entry));
      };
      await add(below(30));
      if (random() < 0.2) saved = { items: await itemsOfLog(), added: new Map(added) };
      await integrateAtOnce(() => add(1));
      last = await expectContinued(last);
      for (const entry of await entriesOfLog(last)) mustStay.add(entry);
      if (random() < 0.15) {
        await restore(saved.items);
        for (const [tag, entry] of added) if (!saved.added.has(tag) && !mustStay.has(entry)) added.delete(tag); // lost with the table
      }
    }
    await integrateEntries(stage);
    last = await expectContinued(last);
    const inLog = await entriesOfLog(last);
    expect({ seed: sampleSeed, inLog: inLog.toSorted() }).toEqual({ seed: sampleSeed, inLog: [...added.values()].toSorted() });
    expect((await itemsOfLog()).filter(({ pk }) => pk.startsWith(historyKeys.waitingPrefix))).toEqual([]);
  });

  it('integrates for a batch of the stream what waits then, and leaves what comes meanwhile to the next batch', async () => {
    await integrateEntries(stage);
    const { size } = await published();
    let checkpoints = 0;
    const store = storeThrough(async (send, { input }) => {
      const isCheckpoint = input.Key === checkpointPath && input.Body !== undefined;
      if (isCheckpoint && ++checkpoints < 4) await addEntries([randomBytes(64)]);
      return await send();
    });
    const entry = randomBytes(64);
    await addEntries([entry]);
    const { pk, sk } = historyKeys.waiting(tagOf(entry));
    const Records = [{ dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } }];
    expect(await integrateChanged({ Records }, () => ({ ...stage, store }))).toBe(size + 1);
    expect(checkpoints).toBe(1);
    expect(await integrateEntries(stage)).toBe(size + 2);
  });

  it('replaces tiles that were never published, after a restore to a time before their plan', async () => {
    const { size } = await published();
    const saved = await itemsOfLog();
    const lost = Array.from({ length: 300 }, () => randomBytes(64)); // with a full tile
    await addEntries(lost);
    await expect(integrateEntries(dyingBeforePublishing())).rejects.toThrow('dead');
    await restore(saved);
    const others = Array.from({ length: 300 }, () => randomBytes(64));
    await addEntries(others);
    await integrateEntries(stage);
    const now = await published();
    expect(now).toMatchObject({ size: size + 300, root: await rootOf(size + 300, tileReader(stage.store)) });
    const inLog = await entriesOfLog(now);
    expect([others, lost].map((each) => each.filter((entry) => inLog.includes(hex(entry))).length)).toEqual([300, 0]);
  });

  it.each([
    ['publishes', ({ Key, Body }: Sent) => Key === checkpointPath && Body !== undefined],
    ['moves the head', ({ UpdateExpression = '' }: Sent) => UpdateExpression.includes('REMOVE planned')],
  ])('never goes back if others publish twice just before it %s', async (_when, isThen) => {
    await addEntries([randomBytes(64)]);
    let isBefore = true;
    const around = async (send: () => Promise<unknown>, { input }: { input: Sent }) => {
      if (isBefore && isThen(input)) {
        isBefore = false;
        await integrateEntries(stage);
        await addEntries([randomBytes(64), randomBytes(64)]);
        await expect(integrateEntries(dyingBeforePublishing())).rejects.toThrow('dead');
        await integrateEntries(stage);
        await addEntries([randomBytes(64)]);
        const before = await sizes();
        await send().catch(() => undefined);
        expect(await sizes()).toEqual(before);
        throw new Error('The process dies after the call.');
      }
      return await send();
    };
    const sizes = async () => [(await published()).size, (await getItem(stage.table, historyKeys.head))?.['entry_count']];
    const { size } = await published();
    const slow = { ...stage, table: tableThrough(stage.table, around), store: storeThrough(around) };
    await expect(integrateEntries(slow)).rejects.toThrow('dies after the call');
    const last = await integrateEntries(stage);
    expect([isBefore, last]).toEqual([false, size + 4]);
    await expectContinued(await published());
    expect(new Set(await entriesOfLog(await published())).size).toBe(size + 4);
  });

  it('keeps the first of two entries of a tag, and refuses the second one', async () => {
    const [first, second] = [randomBytes(64), randomBytes(64)];
    first.copy(second, 0, 0, 32);
    await addEntries([first]);
    await integrateEntries(stage);
    await addEntries([second]);
    await integrateEntries(stage);
    const inLog = await entriesOfLog(await published());
    expect([inLog.includes(hex(first)), inLog.includes(hex(second))]).toEqual([true, false]);
  });

  it('refuses to publish if its tiles do not continue the published checkpoint', async () => {
    await addEntries([randomBytes(64)]);
    await integrateEntries(stage);
    const before = await readObject(stage.store, checkpointPath);
    const { size } = await published();
    const path = `tile/0/${String(Math.floor((size - 1) / 256)).padStart(3, '0')}${size % 256 === 0 ? '' : `.p/${size % 256}`}`;
    const tile = await readObject(stage.store, path);
    if (!tile) throw new TypeError(`There is no ${path}.`);
    const put = (Body: Uint8Array) => stage.store.client.send(new PutObjectCommand({ Bucket: 'log', Key: path, Body }));
    await put(randomBytes(tile.bytes.length));
    await addEntries([randomBytes(64)]);
    await expect(integrateEntries(stage)).rejects.toThrow('do not continue the checkpoint');
    expect(await readObject(stage.store, checkpointPath)).toEqual(before);
    await put(tile.bytes);
    expect(await integrateEntries(stage)).toBe(size + 1);
  });
});
