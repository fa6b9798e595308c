import type { ServerResponse } from 'node:http';
import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, PutCommand, QueryCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { engineClient } from '../../../local/dynamodb/engine-client.ts';
import { withHealthOfEngine } from '../../../local/storage.ts';
import { maxAttempts } from '../../../shared/runtime/clients.ts';
import { type Table, getItem, getItems, queryPartition } from '../../../shared/table/table.ts';
import { deleteItems, putItem, putItemIf, putItems } from '../../../shared/table/writes.ts';
import { writableKey } from '../../../shared/table/keys.ts';
import { silence, startAnsweringServer, status, type AnsweringServer } from '../../support/answering-server.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { readSettled } from '../../../shared/table/transaction.ts';

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));

/** The table as the SDK sees it, and as the engine's own client does. */
function tables(): { bySdk: Table; byEngineClient: Table } {
  const bySdk = embedded.table;
  const document = engineClient(embedded.endpoint, () => true);
  onTestFinished(() => document.destroy());
  return { bySdk, byEngineClient: { ...bySdk, document } };
}

/** Returns what a call threw, as far as the service looks at it. */
async function thrownBy(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const { name, message, Item, CancellationReasons } = error as ConditionalCheckFailedException & TransactionCanceledException;
  const { constructor } = error as Error;
  return { constructor, name, message, Item, CancellationReasons };
}

const item = (sk: string) => ({
  ...writableKey('each kind', sk),
  text: 'Ünïcode \u{1F600}',
  empty: '',
  number: -1.5,
  yes: true,
  nothing: null,
  bytes: Uint8Array.of(0, 127, 255),
  names: new Set(['a', 'b']),
  list: [1, 'two', { three: [3] }],
  map: { Key: { Item: 'a name of the protocol' }, Items: ['x'], left: undefined },
});

describe('the client of the engine', () => {
  it('writes and reads every kind of value as the SDK does, in single calls, batches and transactions', async () => {
    const { bySdk, byEngineClient } = tables();
    await putItem(bySdk, item('sdk'));
    await putItems(byEngineClient, [item('engine'), item('other')]);
    const { map, ...rest } = item('engine');
    const stored = { ...rest, map: { Key: map.Key, Items: map.Items } };
    const [sdk, engine] = [writableKey('each kind', 'sdk'), writableKey('each kind', 'engine')];
    for (const table of [bySdk, byEngineClient]) {
      expect(await getItem(table, engine)).toEqual(stored);
      expect(await getItems(table, [sdk, engine])).toEqual([{ ...stored, ...sdk }, stored]);
      expect(await readSettled(table, [engine])).toEqual([stored]);
      expect(await queryPartition(table, 'each kind')).toHaveLength(3);
    }
    await deleteItems(byEngineClient, [sdk, engine]);
    expect(await queryPartition(bySdk, 'each kind')).toHaveLength(1);
  });

  it('throws the errors of the SDK, with the items and reasons that they carry', async () => {
    const { bySdk, byEngineClient } = tables();
    const key = writableKey('refused', 'a');
    await putItem(bySdk, { ...key, count: 1 });
    const condition = {
      TableName: bySdk.name,
      Key: key,
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
    const update = () =>
      new UpdateCommand({ ...condition, UpdateExpression: 'SET a = :a', ExpressionAttributeValues: { ':a': 1 } });
    const transaction = () => new TransactWriteCommand({ TransactItems: [{ Delete: condition }] });
    const malformed = () => new QueryCommand({ TableName: bySdk.name, KeyConditionExpression: '(' });
    for (const command of [update, transaction, malformed]) {
      const seen = await thrownBy(byEngineClient.document.send(command() as unknown as GetCommand));
      expect(seen).toEqual(await thrownBy(bySdk.document.send(command() as unknown as GetCommand)));
    }
    expect(await thrownBy(byEngineClient.document.send(update()))).toMatchObject({
      constructor: ConditionalCheckFailedException,
      Item: { count: { N: '1' } },
    });
    expect((await thrownBy(byEngineClient.document.send(transaction()))).constructor).toBe(TransactionCanceledException);
  });

  it('deletes at once what is asked for at once, and refuses only what does not meet its condition', async () => {
    const { bySdk, byEngineClient } = tables();
    const keys = Array.from({ length: 130 }, (_, index) => writableKey('deleted at once', String(index)));
    await putItems(bySdk, [...keys.map((key, index) => ({ ...key, version: index === 7 ? 2 : 1 }))]);
    const deletion = (Key: object) =>
      new DeleteCommand({
        TableName: bySdk.name,
        Key: { ...Key },
        ConditionExpression: 'version = :version',
        ExpressionAttributeValues: { ':version': 1 },
      });
    const all = [...keys, writableKey('deleted at once', 'never there'), keys[0]];
    const ends = await Promise.allSettled(all.map((key) => byEngineClient.document.send(deletion(key ?? {}))));
    const refused = ends.flatMap((end, index) => (end.status === 'rejected' ? [[index, (end.reason as Error).name]] : []));
    const indexes = refused.map(([index]) => index);
    expect([
      [0, 7, 130],
      [7, 130, 131],
    ]).toContainEqual(indexes); // one of the two deletions of the first comes second
    expect(new Set(refused.map(([, name]) => name))).toEqual(new Set(['ConditionalCheckFailedException']));
    expect(await queryPartition(bySdk, 'deleted at once')).toEqual([{ ...keys[7], version: 2 }]);
  });

  it('puts at once what is asked for at once, and refuses only what is there', async () => {
    const { bySdk, byEngineClient } = tables();
    const keys = Array.from({ length: 130 }, (_, index) => writableKey('put at once', String(index)));
    const isNew = { ConditionExpression: 'attribute_not_exists(pk)' };
    for (const there of [7, 120]) {
      await deleteItems(bySdk, keys);
      await putItems(bySdk, [{ ...writableKey('put at once', String(there)), version: 2 }]);
      const ends = await Promise.all(keys.map((key) => putItemIf(byEngineClient, { ...key, version: 1 }, isNew)));
      expect(ends.flatMap((isDone, index) => (isDone ? [] : [index]))).toEqual([there]);
      const stored = await queryPartition(bySdk, 'put at once');
      expect(stored.filter(({ version }) => version === 1)).toHaveLength(129);
      expect(stored).toContainEqual({ ...keys[there], version: 2 });
    }
    const twice = [1, 2].map((version) => putItemIf(byEngineClient, { ...writableKey('put twice', 'a'), version }, isNew));
    expect((await Promise.all(twice)).toSorted()).toEqual([false, true]);
  });

  it('sends what is put at once in one call, by itself only if that is refused, and knows nothing of a lost answer', async () => {
    const { client, server } = await clientOfEngine(() => true);
    const put = () => new PutCommand({ TableName: 'table', Item: { pk: 'a', sk: 'b' } });
    const putTwice = () => Promise.allSettled([client.send(put()), client.send(put())]);
    const endsOf = async () => (await putTwice()).map((end) => end.status);
    server.answerWith(status(200, '{}'));
    expect([await endsOf(), server.received]).toEqual([['fulfilled', 'fulfilled'], ['POST']]);
    const refusal = '{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException"}';
    server.answerWith(status(400, refusal), status(200, '{}'));
    expect([await endsOf(), server.received]).toEqual([
      ['fulfilled', 'fulfilled'],
      ['POST', 'POST', 'POST'],
    ]);
    server.answerWith(status(500));
    expect([await endsOf(), server.received]).toEqual([['rejected', 'rejected'], Array(maxAttempts).fill('POST')]);
    const caller = new AbortController();
    server.answerWith(() => caller.abort());
    const given = { abortSignal: caller.signal };
    const ends = await Promise.allSettled([client.send(put(), given), client.send(put(), given)]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(client.send(put(), given)).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.received).toHaveLength(1);
  });

  it('repeats what may pass, and ends at the signal of its caller', async () => {
    const { client, server } = await clientOfEngine(() => true);
    const isThrottled = '{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}';
    server.answerWith(
      status(500),
      status(400, isThrottled),
      (request) => request.destroy(),
      status(200, '{"Item":{"pk":{"S":"b"}}}'),
    );
    expect((await client.send(get)).Item).toEqual({ pk: 'b' });
    expect(server.received).toHaveLength(4);
    const caller = new AbortController();
    server.answerWith(() => caller.abort()); // the request has arrived
    await expect(client.send(get, { abortSignal: caller.signal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.received).toHaveLength(1);
  });

  it('repeats what is not answered, or not to the end, and ends in the middle of an answer at the signal of its caller', async () => {
    const { client, server } = await clientOfEngine(() => true);
    const half = (response: ServerResponse) => response.writeHead(200, { 'content-length': 100 }).write('{"Item":');
    server.answerWith(silence, (_, response) => half(response), status(200, '{"Item":{"pk":{"S":"b"}}}'));
    expect((await client.send(get)).Item).toEqual({ pk: 'b' });
    expect(server.received).toHaveLength(3);
    const caller = new AbortController();
    server.answerWith((_, response) => {
      half(response);
      setImmediate(() => caller.abort());
    });
    await expect(client.send(get, { abortSignal: caller.signal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.received).toHaveLength(1);
  });
});

let other: AnsweringServer | undefined;
afterEach(() => other?.stop());

/** A client of an engine at whose address a server answers. */
async function clientOfEngine(isListening: () => boolean) {
  other = await startAnsweringServer();
  other.answerWith(status(200, '{"Item": {"pk": {"S": "of another table"}}}'));
  const client = engineClient(other.endpoint, isListening);
  onTestFinished(() => client.destroy());
  return { client, server: other };
}

const get = new GetCommand({ TableName: 'table', Key: { pk: 'a', sk: 'b' } });

describe('the client of an engine that does not listen', () => {
  it('sends nothing to the server that has the address of the engine meanwhile', async () => {
    const { client, server } = await clientOfEngine(() => false);
    await expect(client.send(get)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(server.received).toEqual([]);
  });

  it('repeats a call when the engine listens again', async () => {
    const isListening = vi.fn(() => true).mockReturnValueOnce(false);
    const { client, server } = await clientOfEngine(isListening);
    expect((await client.send(get)).Item).toEqual({ pk: 'of another table' });
    expect(server.received).toEqual(['POST']);
  });
});

describe('/health', () => {
  it('does not take another server at the address of the engine for the engine', async () => {
    other = await startAnsweringServer();
    other.answerWith(status(200));
    const { endpoint } = other;
    const ofEngine = (isListening: boolean) => {
      const engine = { endpoint, isListening: () => isListening, stop: () => Promise.resolve() };
      return withHealthOfEngine(() => Promise.resolve({ statusCode: 200 }), engine);
    };
    const event = { requestContext: { requestId: 'request-1' } };
    expect(await ofEngine(false)('service/health', event)).toMatchObject({ statusCode: 503 });
    expect(await ofEngine(true)('service/health', event)).toMatchObject({ statusCode: 200 });
  });
});
