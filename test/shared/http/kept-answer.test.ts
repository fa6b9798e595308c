import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  keepAnswer,
  readKeptAnswer,
  refuseKept,
  type KeptAnswer,
  type KeyedRequest,
  digestOfRequest,
  idempotencyKeyOf,
} from '../../../shared/http/change-endpoint.ts';
import { AnswerKeptError, commitChange, Transaction, StaleReadError } from '../../../shared/table/transaction.ts';
import { answerKeys, type Key } from '../../../shared/table/keys.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import type { Received } from '../../../shared/http/endpoint.ts';
import { getItem } from '../../../shared/table/table.ts';

const embedded = sharedByTests(startEmbeddedTable);

const now = '2026-03-12T10:00:00.000Z';
const laterBy = (seconds: number) => new Date(Date.parse(now) + seconds * 1000).toISOString();
const aDay = 24 * 3600;

function aRequest(fields: Partial<KeyedRequest> = {}): KeyedRequest {
  const key = answerKeys.answer('d1', ['alice', 'POST', '/{domainID}/things', randomUUID()]);
  return { key, digest: 'digest', body: Buffer.from('{"name":"N"}'), now, ...fields };
}

const answer: KeptAnswer = {
  headers: { location: '/there' },
  body: { name: 'N' },
  remembered: { a: 'b' },
  relations: { owner: 'o' },
};

/** Commits a change together with its answer. */
async function commit(request: KeyedRequest, given: KeptAnswer = answer, transaction = new Transaction()): Promise<void> {
  const answerKeeper = { keep: () => keepAnswer(request, given), refuseRepeat: () => Promise.resolve() };
  await commitChange(embedded.table, transaction, {}, answerKeeper);
}

const read = (request: KeyedRequest) => readKeptAnswer(embedded.table, request);

describe('a kept answer', () => {
  it('is returned unchanged for 24 hours after its request', async () => {
    const request = aRequest();
    expect(await read(request)).toBeUndefined();
    await commit(request);
    expect(await read(request)).toEqual(answer);
    expect(await read({ ...request, now: laterBy(aDay - 1) })).toEqual(answer);
    expect(await read({ ...request, now: laterBy(aDay) })).toBeUndefined();
  });

  it('refuses another answer until it expires, also if DynamoDB has not deleted it then', async () => {
    const request = aRequest();
    await commit(request);
    await expect(commit({ ...request, now: laterBy(aDay - 1) })).rejects.toBeInstanceOf(AnswerKeptError);
    await expect(refuseKept(embedded.table, request)).rejects.toBeInstanceOf(AnswerKeptError);
    const next = { ...request, now: laterBy(aDay) };
    await refuseKept(embedded.table, next);
    await commit(next, { ...answer, body: { name: 'another' } });
    expect(await read(next)).toMatchObject({ body: { name: 'another' } });
  });

  it('has the time when DynamoDB deletes it', async () => {
    const request = aRequest();
    await commit(request);
    expect(await getItem(embedded.table, request.key)).toMatchObject({ ttl: Date.parse(now) / 1000 + aDay, schema: 1 });
  });

  it('is the reason of a refusal even if another condition of the transaction does not hold either', async () => {
    const [request, place] = [aRequest(), aRequest().key];
    await commit(request);
    const stale = new Transaction();
    stale.add({ check: { Key: place, ConditionExpression: 'attribute_exists(pk)' }, otherwise: new StaleReadError() });
    await expect(commit(request, answer, stale)).rejects.toBeInstanceOf(AnswerKeptError);
  });

  it('is not written if its change is not', async () => {
    const [request, place] = [aRequest(), aRequest().key];
    const refused = new Transaction();
    refused.add({ check: { Key: place, ConditionExpression: 'attribute_exists(pk)' }, otherwise: new StaleReadError() });
    await expect(commit(request, answer, refused)).rejects.toBeInstanceOf(StaleReadError);
    expect(await read(request)).toBeUndefined();
  });

  it('holds no secret and no link', async () => {
    const request = aRequest({ body: Buffer.alloc(0) });
    const config = { server_key: 'secret', log_level: 'info' };
    await commit(request, { ...answer, body: { agent_config: config, upload: { url: 'u' }, download: { url: 'd' } } });
    expect((await read(request))?.body).toEqual({ agent_config: { log_level: 'info' } });
  });

  it('takes two write units if it repeats what a request of 20 KB sent', async () => {
    const name = randomBytes(10_000).toString('hex');
    const request = aRequest({ body: Buffer.from(JSON.stringify({ name })) });
    await commit(request, { ...answer, body: { id: randomUUID(), name } });
    const item = await getItem(embedded.table, request.key);
    expect((item?.['answer'] as Uint8Array).length).toBeLessThan(700);
    expect((await read(request))?.body).toMatchObject({ name });
  });

  it('fits into an item if it is the largest that there is: a computation with 101 assets and three certificates', async () => {
    const wide = (characters: number) => randomWide(characters);
    const assets = Array.from({ length: 101 }, () => ({ id: randomUUID(), file_name: wide(255), asset_type: 'dataset' }));
    const certificate = () => wide(4096);
    const agent_config = { cert_file: certificate(), server_ca_file: certificate(), client_ca_file: certificate() };
    const body = { id: randomUUID(), name: wide(200), description: wide(4000), owner: wide(255), agent_config, assets };
    const request = aRequest({ body: Buffer.from('{}') });
    await commit(request, { ...answer, body });
    expect((await read(request))?.body).toEqual(body);
  });
});

/** Returns a text of random characters with 4 bytes in UTF-8, which compresses worst. */
function randomWide(characters: number): string {
  const random = randomBytes(characters * 2);
  return Array.from({ length: characters }, (_, index) => String.fromCodePoint(0x1_0000 + random.readUInt16LE(index * 2))).join(
    '',
  );
}

describe('the key of a kept answer', () => {
  it('holds only a hash of what identifies the request, and differs if any part does', () => {
    const parts = ['alice', 'POST', '/{domainID}/computations', 'my-key'];
    const keys = [parts, ...parts.map((_, index) => parts.map((part, at) => (at === index ? `${part}2` : part)))].map((each) =>
      answerKeys.answer('d1', each),
    );
    const shifted: Key = answerKeys.answer('d1', ['alic', 'ePOST', '/{domainID}/computations', 'my-key']);
    const places = [...keys, shifted, answerKeys.answer('d2', parts)].map(({ pk, sk }) => `${pk} ${sk}`);
    expect(new Set(places).size).toBe(keys.length + 2);
    for (const place of places) expect(place).toMatch(/^answers#d[12]#[0-7] [\w-]{43}$/);
  });
});

const received: Received = {
  method: 'PUT',
  headers: { 'idempotency-key': 'k' },
  path: { domainID: 'd1', id: 'x' },
  query: { a: '1', b: '2' },
  body: '{"name":"N"}',
  cookies: [],
  isBase64Encoded: false,
};

describe('idempotencyKeyOf', () => {
  it('returns 1 to 255 printable ASCII characters, and undefined without the header or for a GET', () => {
    const keyOf = (key: string, method = 'POST') =>
      idempotencyKeyOf({ ...received, method, headers: { 'idempotency-key': key } }) ?? '';
    expect([keyOf('a b~!'), keyOf('x'.repeat(255)).length]).toEqual(['a b~!', 255]);
    expect(keyOf('x'.repeat(256), 'GET')).toBe('');
    expect(idempotencyKeyOf({ ...received, headers: {} })).toBeUndefined();
  });
});

describe('digestOfRequest', () => {
  it('is the same for the same path, query, body bytes and If-Match, however they are encoded or ordered', () => {
    const inBase64 = { body: Buffer.from('{"name":"N"}').toString('base64'), isBase64Encoded: true };
    const same: Received[] = [
      { ...received, ...inBase64 },
      { ...received, query: { b: '2', a: '1' } },
      { ...received, headers: { 'idempotency-key': 'other', 'user-agent': 'other' } },
    ];
    expect(new Set([received, ...same].map(digestOfRequest)).size).toBe(1);
  });

  it('differs if one of them differs, or if a part moves to another', () => {
    const others: Received[] = [
      { ...received, path: { domainID: 'd1', id: 'y' } },
      { ...received, query: { a: '1' } },
      { ...received, query: {} },
      { ...received, query: { a: '1', b: '2', c: '' } },
      { ...received, body: '{"name": "N"}' },
      { ...received, body: undefined },
      { ...received, headers: { 'if-match': '' } },
      { ...received, headers: { 'if-match': '"1"' } },
      { ...received, query: { domainID: 'd1', id: 'x' }, path: { a: '1', b: '2' } },
    ];
    expect(new Set([received, ...others].map(digestOfRequest)).size).toBe(others.length + 1);
  });
});
