import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as v from 'valibot';
import type { Relation } from '../access/caller.ts';
import { ServiceError, invalid } from '../runtime/errors.ts';
import type { Key } from '../table/keys.ts';
import { parseStored, storedBytes, schemaAttribute } from '../table/parse-stored.ts';
import { readSettled } from '../table/fresh-reads.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { type Action, AnswerKeptError } from '../table/transaction.ts';
import { bytesOf, type Received } from './endpoint.ts';
import { idempotencyKeyHeader } from './route.ts';

/** The answer to a request with an Idempotency-Key, as its repeats get it. */
export interface KeptAnswer {
  headers: Record<string, string>;
  /** Undefined if the answer has none. Without the properties in `neverKept`. */
  body?: unknown;
  /** Whether the request created the resource, if that has a status of its own. */
  isNew?: boolean | undefined;
  /** For making again what is never kept; see `Change.remember`. */
  remembered: Record<string, string>;
  /** The relations of the caller that the access was checked with. They count once the resource is gone. */
  relations: Partial<Record<Relation, string>>;
}

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  key: Key;
  digest: string;
  body: Buffer;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
}

/** Secrets, and links that expire. */
const neverKept = new Set(['server_key', 'upload', 'download']);

const lifetimeInSeconds = 24 * 3600;

const storedAnswer = v.object({
  /** The digest of the request. */
  request: v.string(),
  /** The answer as JSON, deflated with the request's body as dictionary: answers mostly repeat what was sent. */
  answer: storedBytes,
  /** Seconds since the Unix epoch. The item may be there for days after that. */
  ttl: v.number(),
});

/**
 * Returns the action that keeps the answer for 24 hours. Two write units for a kilobyte.
 * @throws AnswerKeptError, from the transaction, if an answer is kept that has not expired
 */
export function keepAnswer({ key, digest, body, now }: KeyedRequest, answer: KeptAnswer): Action {
  const text = JSON.stringify(answer, (name, value: unknown) => (neverKept.has(name) ? undefined : value));
  const nowInSeconds = secondsOf(now);
  const Item = {
    ...key,
    ...schemaAttribute,
    request: digest,
    answer: deflateRawSync(text, { dictionary: body }),
    ttl: nowInSeconds + lifetimeInSeconds,
  };
  return {
    put: {
      Item,
      ConditionExpression: 'attribute_not_exists(pk) OR #ttl <= :now',
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':now': nowInSeconds },
    },
    otherwise: new AnswerKeptError(),
  };
}

/**
 * Reads the kept answer after the change was refused. Waits for a transaction that is about to keep one, because the refusal
 * may be due to that very transaction.
 * @returns undefined if no answer is kept
 * @throws ServiceError `idempotency_mismatch` if the answer is that to another request
 */
export async function readKeptAnswer(table: Table, request: KeyedRequest): Promise<KeptAnswer | undefined> {
  const [item] = await readSettled(table, [request.key]);
  const stored = current(item, request.now);
  if (!stored) return undefined;
  if (stored.request !== request.digest) {
    throw new ServiceError('idempotency_mismatch', 'The Idempotency-Key was used for another request. Use a new key.');
  }
  return JSON.parse(inflateRawSync(stored.answer, { dictionary: request.body }).toString()) as KeptAnswer;
}

/** @throws AnswerKeptError if an answer is kept for the request's key */
export async function refuseKept(table: Table, { key, now }: KeyedRequest): Promise<void> {
  if (current(await getItem(table, key), now)) throw new AnswerKeptError();
}

function current(item: Item | undefined, now: string): v.InferOutput<typeof storedAnswer> | undefined {
  const stored = item && parseStored(storedAnswer, item, 'kept answer');
  return stored && stored.ttl > secondsOf(now) ? stored : undefined;
}

function secondsOf(now: string): number {
  return Math.floor(Date.parse(now) / 1000);
}

/**
 * Returns the request's Idempotency-Key; undefined without one, and for a GET, which takes none.
 * @throws ServiceError `invalid_request` if it is not 1 to 255 printable ASCII characters
 */
export function idempotencyKeyOf({ method, headers }: Received): string | undefined {
  const key = headers[idempotencyKeyHeader.toLowerCase()];
  if (key === undefined || method === 'GET') return undefined;
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw invalid(`header/${idempotencyKeyHeader}`, 'Expected 1 to 255 printable ASCII characters.');
  }
  return key;
}

/** Returns a digest that two requests share if they have the same path, query, body bytes and If-Match. */
export function digestOfRequest(received: Received): string {
  const { path, query, headers } = received;
  const parts = JSON.stringify([sorted(path), sorted(query), headers['if-match'] ?? null]);
  return createHash('sha256').update(parts).update('\n').update(bytesOf(received)).digest('base64url');
}

/** The order of query parameters means nothing, and API Gateway does not promise that of path parameters. */
function sorted(map: Record<string, string | undefined>): [string, string | undefined][] {
  return Object.keys(map)
    .sort()
    .map((name) => [name, map[name]]);
}
