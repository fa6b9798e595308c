import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as v from 'valibot';
import { type Permitted, type Relation, type Relations, relationsOf } from './caller.ts';
import { type ErrorCode, ForbiddenForNowError, invalid, ServiceError } from '../runtime/errors.ts';
import { log } from '../runtime/log.ts';
import { answerKeys, type Key } from '../table/keys.ts';
import { openTable, type Table, getItem, type Item } from '../table/table.ts';
import { type Action, AnswerKeptError, type Committed, readSettled, type UserRequest } from '../table/transaction.ts';
import { admitChange } from './domain-limit.ts';
import { type Answer, anyEndpoint, bytesOf, type EndpointRequest, type Parsed, type Received, type Reply } from './endpoint.ts';
import { idempotencyKeyHeader, replayedHeader, type Route, type TakesKey } from './route.ts';
import { parseStored, schemaAttribute, storedBytes } from '../table/stored.ts';

/** A request to an endpoint that changes something, with the table in which the change is written. */
export interface ChangeRequest<R extends Route> extends EndpointRequest<R> {
  table: Table;
  /** The part of the request that every operation needs, also to store its answer for repeats. Pass it on to the operation. */
  request: UserRequest;
}

/**
 * The work of an endpoint that changes something, in two steps: make the change, then make the answer. The answer is known
 * before the change is committed, so that both are written together.
 */
interface Change<R extends Route, T extends object> {
  change: (request: ChangeRequest<R>) => Promise<Committed<T>>;
  /**
   * Makes the answer to a request from the result of the change. Called in each attempt to commit the change, and again for an
   * answer that is sent and was not stored.
   */
  reply: (
    result: T,
    request: ChangeRequest<R>,
  ) => Reply<R> & {
    /**
     * Values from which `repeat` makes the parts of the answer that are not stored, such as links that expire. These values are
     * stored with the answer.
     */
    remember?: Record<string, string>;
  };
  /**
   * Returns the body of the answer to a repeated request with an Idempotency-Key, from the body that was stored. Adds the parts
   * that are never stored, such as links that expire, and completes what the first request may have left undone. Called after
   * the access of the caller was checked.
   */
  repeat?: (
    body: Parsed<R['response']>,
    remembered: Record<string, string>,
    request: ChangeRequest<R>,
  ) => Promise<Parsed<R['response']>>;
}

/**
 * Makes the handler of an endpoint that changes something. If the request has an Idempotency-Key, the transaction of the change
 * keeps the answer for repeats (docs/adr/0009-safe-repeats.md). A repeat attempts the change; what the first request left refuses
 * it, so access is checked with the caller's present roles and relations.
 */
export function changeEndpoint<const R extends Route, T extends object>(
  route: R & (TakesKey<R> extends true ? unknown : never),
  work: Change<R, T>,
) {
  return anyEndpoint<R>(route, async (request) => {
    const table = openTable(request.deadline);
    const limits = await admitChange(table, request);
    const key = idempotencyKeyOf(request.received);
    const { domainID: domain = '' }: Record<string, string> = request.path;
    const change = { ...request, table, request: { domain, by: request.caller.id, now: request.now } };
    const answer = key === undefined ? await carryOut(work, change) : await carryOutOnce({ route, work }, change, key);
    return { ...answer, headers: { ...limits, ...answer.headers } };
  });
}

/** @param made the answers that were made and checked before, by the results of the change */
async function carryOut<R extends Route, T extends object>(
  { change, reply }: Change<R, T>,
  request: ChangeRequest<R>,
  made = new WeakMap<object, Answer>(),
): Promise<Answer> {
  const result = await change(request);
  const { body, isNew = false, isKept = false, ...rest }: Answer = made.get(result) ?? reply(result, request);
  return { body, isNew, isKept, headers: headersOf(rest) };
}

const headersOf = ({ etag, headers = {} }: Answer): Record<string, string> =>
  etag === undefined ? headers : { etag, ...headers };

async function carryOutOnce<R extends Route, T extends object>(
  { route, work }: { route: R; work: Change<R, T> },
  request: ChangeRequest<R>,
  key: string,
): Promise<Answer> {
  const { table, received } = request;
  const { domain, by, now } = request.request;
  const keptAt = answerKeys.answer(domain, [by, route.method, route.path, key]);
  const keyed = { key: keptAt, digest: digestOfRequest(received), body: bytesOf(received), now };
  let relations: KeptAnswer['relations'] | undefined;
  const permit = (given: Relations): Permitted => {
    const permitted = request.permit(given);
    relations = relationsOf(request.caller, given);
    return permitted;
  };
  const made = new WeakMap<object, Answer>();
  const keep = (result: object) => {
    const {
      body,
      isNew,
      remember = {},
      ...rest
    }: Answer & { remember?: KeptAnswer['remembered'] } = work.reply(result as T, request);
    const shown = route.response && v.parse(route.response, body);
    const headers = headersOf(rest);
    made.set(result, { headers, body: shown, ...(isNew !== undefined && { isNew }), isKept: true });
    return keepAnswer(keyed, { headers, body: shown, isNew, remembered: remember, relations: relations ?? {} });
  };
  const answerKeeper = { keep, refuseRepeat: () => refuseKept(table, keyed) };
  try {
    return await carryOut(work, { ...request, permit, request: { ...request.request, answerKeeper } }, made);
  } catch (error) {
    const answer = mayBeRepeat(error) ? await readKeptAnswer(table, keyed) : undefined;
    if (!answer) throw error;
    if (!relations) request.permit(answer.relations); // defence
    return await answerAgain(work, request, answer);
  }
}

async function answerAgain<R extends Route, T extends object>(
  { repeat }: Change<R, T>,
  request: ChangeRequest<R>,
  { headers, body, isNew = false, remembered }: KeptAnswer,
): Promise<Answer> {
  log('INFO', 'The request was answered before. The answer is given again.');
  const kept = body as Parsed<R['response']>;
  const whole = repeat ? await repeat(kept, remembered, request) : kept;
  return { body: whole, isNew, headers: { ...headers, [replayedHeader]: 'true' }, isKept: true };
}

const always = new Set<ErrorCode>(['unauthenticated', 'forbidden', 'too_many_requests', 'internal', 'unavailable']);

function mayBeRepeat(error: unknown): boolean {
  if (error instanceof AnswerKeptError || error instanceof ForbiddenForNowError) return true;
  return error instanceof ServiceError && !always.has(error.code);
}

/** The answer to a request with an Idempotency-Key as it is stored for 24 hours, for repeats of the request. */
export interface KeptAnswer {
  headers: Record<string, string>;
  /** The body of the answer, without the properties in `neverKept`. Undefined if the answer has no body. */
  body?: unknown;
  /** True if the request created the resource. Undefined if the endpoint answers the same status in both cases. */
  isNew?: boolean | undefined;
  /**
   * The values from which `Change.repeat` makes the parts of the answer that are not stored, as `Change.reply` returned them in
   * `remember`.
   */
  remembered: Record<string, string>;
  /**
   * The relations to the resource, such as `owner`, that gave the caller of the first request access. They decide the access of
   * a repeat once the resource is gone.
   */
  relations: Partial<Record<Relation, string>>;
}

/** A request with an Idempotency-Key, reduced to what storing and finding its answer takes. */
export interface KeyedRequest {
  key: Key;
  digest: string;
  body: Buffer;
  now: string;
}

/** The properties of an answer that are never stored: secrets, and links that expire. */
const neverKept = new Set(['server_key', 'upload', 'download']);

const lifetimeInSeconds = 24 * 3600;

const storedAnswer = v.object({
  /**
   * The digest of the request to which the stored answer belongs. A request with the same Idempotency-Key and another digest is
   * refused.
   */
  request: v.string(),
  /**
   * The stored answer to a request with an Idempotency-Key, as deflated JSON. The body of the request is the dictionary of the
   * compression, because answers mostly repeat what was sent.
   */
  answer: storedBytes,
  /** The time when the answer expires, in seconds since the Unix epoch. The item may be there for days after that. */
  ttl: v.number(),
});

/**
 * Returns the write that stores the answer to a request with an Idempotency-Key for 24 hours. Costs two write units for a
 * kilobyte.
 * @throws AnswerKeptError, from the transaction, if an answer is stored that has not expired
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
    otherwise: AnswerKeptError,
  };
}

/**
 * Reads the stored answer to a request with an Idempotency-Key. Waits for a transaction that is about to store one, because the
 * request may have been refused due to that transaction.
 * @returns undefined if no answer is stored
 * @throws ServiceError `idempotency_mismatch` if the stored answer is that to another request
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

/**
 * Checks that no answer is stored for the Idempotency-Key of a request: the request is not a repeat.
 * @throws AnswerKeptError if an answer is stored
 */
export async function refuseKept(table: Table, { key, now }: KeyedRequest): Promise<void> {
  if (current(await getItem(table, key), now)) throw new AnswerKeptError();
}

function current(item: Item | undefined, now: string): v.InferOutput<typeof storedAnswer> | undefined {
  const stored = item && parseStored(storedAnswer, item, 'kept answer');
  return stored && stored.ttl > secondsOf(now) ? stored : undefined;
}

const secondsOf = (now: string): number => Math.floor(Date.parse(now) / 1000);

/**
 * Returns the Idempotency-Key of a request. Returns undefined if there is none, and for a GET, which takes none.
 * @throws ServiceError `invalid_request` if the key is not 1 to 255 printable ASCII characters
 */
export function idempotencyKeyOf({ method, headers }: Received): string | undefined {
  const key = headers[idempotencyKeyHeader.toLowerCase()];
  if (key === undefined || method === 'GET') return undefined;
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw invalid(`header/${idempotencyKeyHeader}`, 'Expected 1 to 255 printable ASCII characters.');
  }
  return key;
}

/**
 * Returns the digest of a request. Two requests have the same digest if they have the same path, query, body bytes and If-Match.
 */
export function digestOfRequest(received: Received): string {
  const { path, query, headers } = received;
  // The order of query parameters means nothing, and API Gateway does not promise an order of path parameters.
  const sorted = (map: object) => Object.entries(map).sort();
  const parts = JSON.stringify([sorted(path), sorted(query), headers['if-match'] ?? null]);
  return createHash('sha256').update(parts).update('\n').update(bytesOf(received)).digest('base64url');
}
