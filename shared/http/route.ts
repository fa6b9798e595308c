import type * as v from 'valibot';
import type { Access } from '../access/caller.ts';
import type { ConflictReason, ErrorCode } from '../runtime/errors.ts';
import type { Uses } from '../runtime/uses.ts';
import type { ConditionalHeader } from './etags.ts';

/**
 * An endpoint: where it is, who may call it, what it takes and what it answers. The handler, CDK, the one-machine stack, the OpenAPI
 * document and the tests derive from it.
 */
export interface Route {
  /** File below functions/, test, construct id and log dimension. */
  name: string;
  /** The number in the contract, 1 to 26. Public endpoints and endpoints that were added later have none. */
  endpoint?: number;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  summary: string;
  /** Set if clients should use another endpoint. */
  deprecated?: true;
  /** False if a POST, PUT or DELETE takes no Idempotency-Key: it changes nothing, or recognizes repeats by itself. */
  takesKey?: false;
  /**
   * True if the endpoint has the parameter `wait`. Its function then has its own reserved concurrency, little memory, and the caps of
   * waits in its environment.
   */
  waits?: true;
  /** Omit for a public endpoint, which takes no token. */
  access?: Access;
  uses: Uses;
  /** The executions that a stage reserves for the function. Default: it shares those of the account. */
  reserves?: 'reports' | 'slowReads';
  /** True if a call takes much more time or storage than most. `expensiveThrottling` of the stage then limits the route. */
  isExpensive?: true;
  /** The effect on users while the endpoint fails. The alarm includes it. */
  impact: string;
  query?: v.GenericSchema;
  body?: v.GenericSchema;
  /** The largest body in bytes. Default 256 KiB. */
  bodyLimit?: number;
  status: 200 | 201 | 204;
  /** The status of the reply if a PUT created its resource. Each reply of the handler says whether it did. */
  statusIfNew?: 201;
  /** Omit for a response without content. */
  response?: v.GenericSchema;
  /** Set if the response has an ETag. */
  etag?: true;
  /** The conditional header that the endpoint evaluates: If-Match can lead to 412, If-None-Match to 304. */
  condition?: ConditionalHeader;
  /** Descriptions of the response headers that only this endpoint has. */
  headers?: Record<string, string>;
  /** The same for headers that not every success has. */
  optionalHeaders?: Record<string, string>;
  /** Errors beyond those that every endpoint can return. */
  errors?: readonly ErrorCode[];
  /** The reasons of its 409, if it has `conflict` among its errors. */
  reasons?: readonly ConflictReason[];
  description?: string;
}

/** The header, as the contract and the OpenAPI document write it. */
export const idempotencyKeyHeader = 'Idempotency-Key';
/** The header of an answer that was kept and is given again. */
export const replayedHeader = 'idempotent-replayed';

/** Whether the endpoint takes an Idempotency-Key: `changeEndpoint` serves it then, else `endpoint`. */
export type TakesKey<R extends Route> = R extends { method: 'GET' } | { takesKey: false } ? false : true;

export function takesKey({ method, takesKey }: Served): boolean {
  return method !== 'GET' && takesKey !== false;
}

/** The fields of a route that decide between `endpoint` and `changeEndpoint`. */
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

/** Returns the methods that the path of the route has for its function. */
export function methodsOf<R extends Served>(route: R, routes: readonly Served[]): readonly (R['method'] | 'HEAD')[] {
  return answersHead(route, routes) ? [route.method, 'HEAD'] : [route.method];
}
