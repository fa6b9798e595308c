import * as v from 'valibot';
import type { Access } from './caller.ts';
import type { ConflictReason, ErrorCode } from '../runtime/errors.ts';
import type { Uses } from '../runtime/uses.ts';
import type { ConditionalHeader } from './etags.ts';
import { arrayOf, described, namedObject } from 'computation-management-formats/fields';
import { uncheckedId } from 'computation-management-formats/identifiers';

/** The declaration of an endpoint. The handler, CDK, the one-machine stack, the OpenAPI document and the tests derive from it. */
export interface Route {
  /** The name of the endpoint. The file below functions/, the test, the construct and the log dimension have the same name. */
  name: string;
  /**
   * The number of the endpoint in the contract (docs/contract.md). Absent for public endpoints and endpoints that were added
   * later.
   */
  endpoint?: number;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path as API Gateway writes it. A last parameter `{name+}` takes the rest of the path, with its slashes. */
  path: string;
  summary: string;
  /** Set for a deprecated endpoint: clients should use another one. */
  deprecated?: true;
  /**
   * Set to false for a POST, PUT or DELETE that takes no Idempotency-Key, because it changes nothing or recognizes repeats by
   * itself. Default: an endpoint with these methods takes the header.
   */
  takesKey?: false;
  /** Set for a GET that changes something: it does not answer HEAD. */
  changes?: true;
  /**
   * Set if the endpoint has the parameter `wait`. Its function then has its own reserved concurrency, little memory, and the caps
   * of waits in its environment.
   */
  waits?: true;
  /** The access that the endpoint requires. Absent for a public endpoint, which takes no token. */
  access?: Access;
  uses: Uses;
  /** The pool of reserved concurrency of the endpoint's function. Default: the function shares the executions of the account. */
  reserves?: 'reports' | 'slowReads';
  /** Set if a call takes much more time or storage than most. `expensiveThrottling` of the stage then limits the endpoint. */
  isExpensive?: true;
  impact: string;
  query?: v.GenericSchema;
  body?: v.GenericSchema;
  /** Set if the body is a form instead of JSON. */
  isForm?: true;
  /** The largest body of a request to the endpoint, in bytes. Default: 256 KiB. */
  bodyLimit?: number;
  /** The status of a success. Default: 200, or 204 for a response without content. */
  status?: 201;
  /** The status of the response if a PUT has created its resource. Each reply of the handler says whether it did. */
  statusIfNew?: 201;
  /** The schema of the body of the endpoint's response. Absent for a response without content. */
  response?: v.GenericSchema;
  /** The media type of a response that is not JSON. Its body is a text, or bytes in base64 if `isBinary`. */
  media?: { type: string; isBinary?: true };
  etag?: true;
  /** The conditional header that the endpoint takes. If-Match can lead to 412, If-None-Match to 304. */
  condition?: ConditionalHeader;
  headers?: Record<string, string>;
  /** Descriptions of headers that only some successful responses have, by name. */
  optionalHeaders?: Record<string, string>;
  /** The errors that the endpoint can return, beyond those that every endpoint can return, or that follow from its other members. */
  errors?: readonly ErrorCode[];
  /** The reasons of the endpoint's 409. */
  reasons?: readonly ConflictReason[];
  description?: string;
}

/** Returns the status of a success that is not of a new resource. */
export const statusOf = ({ status, response }: Route): number => status ?? (response ? 200 : 204);

export const idempotencyKeyHeader = 'Idempotency-Key';
/** The header of an answer that is given again because the Idempotency-Key was used before. */
export const replayedHeader = 'idempotent-replayed';

/** True, as a type, for an endpoint that takes an Idempotency-Key. `changeEndpoint` serves such an endpoint, `endpoint` all others. */
export type TakesKey<R extends Route> = R extends { method: 'GET' } | { takesKey: false } ? false : true;

/** Returns whether an endpoint takes an Idempotency-Key. */
export const takesKey = ({ method, takesKey }: Served): boolean => method !== 'GET' && takesKey !== false;

/** The fields of an endpoint that decide which methods its function answers. */
export type Served = Pick<Route, 'name' | 'takesKey' | 'changes'> & { method: string };

/**
 * Returns whether a function is subject to the limit on the changes of a domain and to the closing of a domain that is removed.
 * Both apply to functions that `changeEndpoint` serves, with all their methods, also a GET, which takes no Idempotency-Key.
 */
export const isLimited = (functionName: string, routes: readonly Served[]): boolean =>
  routes.some((route) => route.name === functionName && takesKey(route));

/**
 * Returns whether the function of an endpoint answers the method HEAD too. Each function of a GET does, except one that changes
 * something.
 */
export const answersHead = ({ name, method, changes }: Served, routes: readonly Served[]): boolean =>
  method === 'GET' && changes !== true && !isLimited(name, routes);

/** Returns the HTTP methods that the function of an endpoint answers. */
export const methodsOf = <R extends Served>(route: R, routes: readonly Served[]): readonly (R['method'] | 'HEAD')[] =>
  answersHead(route, routes) ? [route.method, 'HEAD'] : [route.method];

const mostEntries = 100;

/** Makes the schema of a query parameter that a client may leave out. */
/*#__NO_SIDE_EFFECTS__*/
export function ifSent<const Schema extends v.GenericSchema>(schema: Schema, description: string) {
  return v.optional(described(schema, description));
}

/** Makes the schema of a query parameter that is a whole number. It arrives as text and is parsed to a number. */
/*#__NO_SIDE_EFFECTS__*/
export function wholeNumber(minimum: number, maximum: number, byDefault: number, description: string) {
  const isWithin = (text: string) => /^(?:0|[1-9][0-9]{0,15})$/.test(text) && Number(text) >= minimum && Number(text) <= maximum;
  const number = v.pipe(
    v.string(),
    v.check(isWithin, `Expected a whole number from ${minimum} to ${maximum}.`),
    v.description(description),
    v.metadata({ minimum, maximum, default: byDefault }),
    v.transform(Number),
  );
  return v.optional(number, String(byDefault));
}

/** The query parameters `limit` and `offset` of a list. The largest `offset` is the largest integer that is exact in JavaScript. */
export const paging = {
  limit: wholeNumber(1, mostEntries, 10, 'The maximum number of entries to return, from 1 to 100. Default 10.'),
  offset: wholeNumber(0, Number.MAX_SAFE_INTEGER, 0, 'The number of entries to skip. Default 0.'),
};

/**
 * The query parameter `offset` of a list that must know whether the client sent it. Undefined if it was not sent, which means 0.
 */
export const offsetIfSent = v.optional(paging.offset.wrapped);

/** Returns the schema of the entries on a page: up to 100 rows. */
/*#__NO_SIDE_EFFECTS__*/
export function entriesOf<const Row extends v.GenericSchema>(row: Row, description: string) {
  return arrayOf(row, mostEntries, description);
}

const integer = v.pipe(v.number(), v.integer());
const limit = described(integer, 'The `limit` of the request, or its default.');
const pageEnvelope = {
  limit: v.pipe(limit, v.metadata({ minimum: 1, maximum: mostEntries })),
  offset: described(integer, 'The `offset` of the request, or 0.'),
  total: described(integer, 'The exact number of entries that match the filter.'),
};

/** Makes the schema of a page of a list, which has `limit`, `offset` and `total` beside its entries. */
/*#__NO_SIDE_EFFECTS__*/
export function pageOf<const Entries extends v.ObjectEntries>(title: string, description: string, entries: Entries) {
  return namedObject(title, description, { ...entries, ...pageEnvelope });
}

/** The query parameter `wait`, in seconds. */
export const waitParameter = wholeNumber(
  0,
  20,
  0,
  'The number of seconds to wait if there is nothing to return yet, from 0 to 20. Default 0. The response may come earlier and be empty.',
);

/** The query parameter `run` of endpoints about one run of a computation. */
export const runParameter = uncheckedId('The identifier of a run of this computation.');

/** The query parameter `run` of endpoints that take the latest run of a computation without it. */
export const runIfSent = v.optional(uncheckedId('The identifier of a run of this computation. Default: the latest run.'));
