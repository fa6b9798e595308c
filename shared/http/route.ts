import type * as v from 'valibot';
import type { Access } from './caller.ts';
import type { ConflictReason, ErrorCode } from '../runtime/errors.ts';
import type { Uses } from '../runtime/uses.ts';
import type { ConditionalHeader } from './etags.ts';

/** The handler, CDK, the one-machine stack, the OpenAPI document and the tests derive from it. */
export interface Route {
  /** Also of the file below functions/, the test, the construct and the log dimension. */
  name: string;
  /** In the contract. Public endpoints and endpoints that were added later have none. */
  endpoint?: number;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  summary: string;
  /** Clients should use another endpoint. */
  deprecated?: true;
  /** It changes nothing, or recognizes repeats by itself. */
  takesKey?: false;
  /**
   * It has the parameter `wait`. Its function then has its own reserved concurrency, little memory, and the caps of waits in its
   * environment.
   */
  waits?: true;
  /** Absent for a public endpoint, which takes no token. */
  access?: Access;
  uses: Uses;
  /** Default: the function shares the executions of the account. */
  reserves?: 'reports' | 'slowReads';
  /** A call takes much more time or storage than most. `expensiveThrottling` then limits the route. */
  isExpensive?: true;
  impact: string;
  query?: v.GenericSchema;
  body?: v.GenericSchema;
  /** Default 256 KiB. */
  bodyLimit?: number;
  status: 200 | 201 | 204;
  /** If a PUT created its resource. Each reply of the handler says whether it did. */
  statusIfNew?: 201;
  /** Absent for a response without content. */
  response?: v.GenericSchema;
  etag?: true;
  /** If-Match can lead to 412, If-None-Match to 304. */
  condition?: ConditionalHeader;
  headers?: Record<string, string>;
  /** Not every success has them. */
  optionalHeaders?: Record<string, string>;
  /** Beyond those that every endpoint can return. */
  errors?: readonly ErrorCode[];
  /** Of its 409, if `errors` has `conflict`. */
  reasons?: readonly ConflictReason[];
  description?: string;
}

export const idempotencyKeyHeader = 'Idempotency-Key';
export const replayedHeader = 'idempotent-replayed';

/** Whether the endpoint takes an Idempotency-Key: `changeEndpoint` serves it then, else `endpoint`. */
export type TakesKey<R extends Route> = R extends { method: 'GET' } | { takesKey: false } ? false : true;

export function takesKey({ method, takesKey }: Served): boolean {
  return method !== 'GET' && takesKey !== false;
}

interface Served {
  name: string;
  method: string;
  takesKey?: false;
}

/**
 * Whether the limit of a domain, and its closing while it is removed, apply to a function: `changeEndpoint` serves it. They apply
 * to all its methods, also to a GET, which takes no Idempotency-Key.
 */
export function isLimited(functionName: string, routes: readonly Served[]): boolean {
  return routes.some((route) => route.name === functionName && takesKey(route));
}

/** Whether the function of the route answers HEAD too: each GET does, except one that changes something. */
export function answersHead({ name, method }: Served, routes: readonly Served[]): boolean {
  return method === 'GET' && !isLimited(name, routes);
}

export function methodsOf<R extends Served>(route: R, routes: readonly Served[]): readonly (R['method'] | 'HEAD')[] {
  return answersHead(route, routes) ? [route.method, 'HEAD'] : [route.method];
}
