import * as v from 'valibot';
import { relationsOf, type Permitted, type Relations } from '../access/caller.ts';
import { ForbiddenForNowError, ServiceError, type ErrorCode } from '../runtime/errors.ts';
import { log } from '../runtime/log.ts';
import { AnswerKeptError, type AnswerKeeper, type Committed } from '../table/transaction.ts';
import { answerKeys } from '../table/keys.ts';
import { openTable } from '../table/open-table.ts';
import type { Table } from '../table/table.ts';
import { admitChange } from './domain-limit.ts';
import { anyEndpoint, type Answer, type EndpointRequest, type Parsed, type Reply, bytesOf } from './endpoint.ts';
import {
  digestOfRequest,
  idempotencyKeyOf,
  keepAnswer,
  readKeptAnswer,
  refuseKept,
  type KeptAnswer,
  type KeyedRequest,
} from './kept-answer.ts';
import { replayedHeader, type Route, type TakesKey } from './route.ts';

/** A request to an endpoint that takes an Idempotency-Key. */
export interface ChangeRequest<R extends Route> extends EndpointRequest<R> {
  /** The stage's table. */
  table: Table;
  /** For commitChange. Undefined without an Idempotency-Key. */
  answerKeeper: AnswerKeeper | undefined;
}

/** The work of an endpoint that changes something, in two steps, so that its answer is known before the change is committed. */
interface Change<R extends Route, T extends object> {
  change: (request: ChangeRequest<R>) => Promise<Committed<T>>;
  /** Makes the answer of the change's result. Called in each attempt to commit, and again for the answer itself. */
  reply: (
    result: T,
    request: ChangeRequest<R>,
  ) => Reply<R> & {
    /** For `repeat`: what it needs to make the parts of the answer that are never kept. */
    remember?: Record<string, string>;
  };
  /**
   * Called when the kept answer is given again, after the caller's access was checked. Adds the parts that are never kept, and
   * completes what the first request may have left undone after its transaction.
   * @returns the body
   */
  repeat?: (
    body: Parsed<R['response']>,
    remembered: Record<string, string>,
    request: ChangeRequest<R>,
  ) => Promise<Parsed<R['response']>>;
}

/**
 * Makes the handler of an endpoint that changes something. With an Idempotency-Key, the transaction of the change keeps the
 * answer, and a repeat of the request within 24 hours gets it again (docs/adr/0009-safe-repeats.md). The first request makes no
 * further call for that. A repeat attempts the change. The kept answer, or the state that the first request left, refuses it. Then the
 * repeat returns the kept answer. So access is checked with the caller's present roles and relations.
 */
export function changeEndpoint<const R extends Route, T extends object>(
  route: R & (TakesKey<R> extends true ? unknown : never),
  work: Change<R, T>,
) {
  return anyEndpoint<R>(route, async (request) => {
    const table = openTable(request.deadline);
    const limits = await admitChange(table, request);
    const key = idempotencyKeyOf(request.received);
    const change = { ...request, table, answerKeeper: undefined };
    const answer = key === undefined ? await carryOut(work, change) : await carryOutOnce({ route, work }, change, key);
    return { ...answer, headers: { ...limits, ...answer.headers } };
  });
}

async function carryOut<R extends Route, T extends object>(
  { change, reply }: Change<R, T>,
  request: ChangeRequest<R>,
): Promise<Answer> {
  const { body, isNew = false, ...rest }: Answer = reply(await change(request), request);
  return { body, isNew, headers: headersOf(rest) };
}

function headersOf({ etag, headers = {} }: Answer): Record<string, string> {
  return etag === undefined ? headers : { etag, ...headers };
}

type KeepableReply = Answer & { remember?: Record<string, string> };

async function carryOutOnce<R extends Route, T extends object>(
  { route, work }: { route: R; work: Change<R, T> },
  request: ChangeRequest<R>,
  key: string,
): Promise<Answer> {
  const { table } = request;
  const keyed = keyedRequest(route, request, key);
  let relations: KeptAnswer['relations'] | undefined;
  const permit = (given: Relations): Permitted => {
    const permitted = request.permit(given);
    relations = relationsOf(request.caller, given);
    return permitted;
  };
  const keep = (result: object) => {
    const { body, isNew, remember = {}, ...rest }: KeepableReply = work.reply(result as T, request);
    const shown = route.response && v.parse(route.response, body);
    const headers = headersOf(rest);
    return keepAnswer(keyed, { headers, body: shown, isNew, remembered: remember, relations: relations ?? {} });
  };
  const answerKeeper = { keep, refuseRepeat: () => refuseKept(table, keyed) };
  try {
    return await carryOut(work, { ...request, permit, answerKeeper });
  } catch (error) {
    const answer = mayBeRepeat(error) ? await readKeptAnswer(table, keyed) : undefined;
    if (!answer) throw error;
    if (!relations) request.permit(answer.relations);
    return await answerAgain(work, request, answer);
  }
}

function keyedRequest<R extends Route>(route: Route, request: EndpointRequest<R>, key: string): KeyedRequest {
  const { caller, path, received, now } = request;
  const { domainID = '' }: Record<string, string> = path;
  return {
    key: answerKeys.answer(domainID, [caller.id, route.method, route.path, key]),
    digest: digestOfRequest(received),
    body: bytesOf(received),
    now,
  };
}

async function answerAgain<R extends Route, T extends object>(
  { repeat }: Change<R, T>,
  request: ChangeRequest<R>,
  { headers, body, isNew = false, remembered }: KeptAnswer,
): Promise<Answer> {
  log('INFO', 'The request was answered before. The answer is given again.');
  const kept = body as Parsed<R['response']>;
  return {
    body: repeat ? await repeat(kept, remembered, request) : kept,
    isNew,
    headers: { ...headers, [replayedHeader]: 'true' },
    isKept: true,
  };
}

/** Refusals that do not depend on what the request would change. */
const always = new Set<ErrorCode>(['unauthenticated', 'forbidden', 'too_many_requests', 'internal', 'unavailable']);

/** Whether an earlier request with the same key may be the reason that the change was refused. */
function mayBeRepeat(error: unknown): boolean {
  if (error instanceof AnswerKeptError || error instanceof ForbiddenForNowError) return true;
  return error instanceof ServiceError && !always.has(error.code);
}
