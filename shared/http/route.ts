import type * as v from 'valibot';
import type { Access } from './caller.ts';
import type { ConflictReason, ErrorCode } from '../runtime/errors.ts';
import type { Uses } from '../runtime/uses.ts';
import type { ConditionalHeader } from './etags.ts';

/** The declaration of an endpoint. The handler, CDK, the one-machine stack, the OpenAPI document and the tests derive from it. */
export interface Route {
  /** The name of the endpoint. The file below functions/, the test, the construct and the log dimension have the same name. */
  name: string;
  /** The number of the endpoint in the contract. Public endpoints and endpoints that were added later have none. */
  endpoint?: number;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  summary: string;
  /** Set if clients should use another endpoint. */
  deprecated?: true;
  /** Set to false if a POST, PUT or DELETE takes no Idempotency-Key: it changes nothing, or recognizes repeats by itself. */
  takesKey?: false;
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
  /** The largest body in bytes. Default: 256 KiB. */
  bodyLimit?: number;
  status: 200 | 201 | 204;
  /** The status of a PUT that created its resource. Each reply of the handler says whether it did. */
  statusIfNew?: 201;
  /** The schema of the response. Absent for a response without content. */
  response?: v.GenericSchema;
  etag?: true;
  /** The conditional header that the endpoint takes. If-Match can lead to 412, If-None-Match to 304. */
  condition?: ConditionalHeader;
  headers?: Record<string, string>;
  /** Descriptions of headers that only some successful responses have, by name. */
  optionalHeaders?: Record<string, string>;
  /** The errors that the endpoint can return, beyond those that every endpoint can return. */
  errors?: readonly ErrorCode[];
  /** The reasons of the endpoint's 409, if `errors` has `conflict`. */
  reasons?: readonly ConflictReason[];
  description?: string;
}

export const idempotencyKeyHeader = 'Idempotency-Key';
/** The header of an answer that is given again because the Idempotency-Key was used before. */
export const replayedHeader = 'idempotent-replayed';

/** True if the endpoint takes an Idempotency-Key. `changeEndpoint` serves it then, otherwise `endpoint`. */
export type TakesKey<R extends Route> = R extends { method: 'GET' } | { takesKey: false } ? false : true;

/** Returns whether an endpoint takes an Idempotency-Key. */
export function takesKey({ method, takesKey }: Served): boolean {
  return method !== 'GET' && takesKey !== false;
}

interface Served {
  name: string;
  method: string;
  takesKey?: false;
}

/**
 * Returns whether the limit of a domain, and its closing while it is removed, apply to a function. They apply if `changeEndpoint`
 * serves it, and then to all its methods, also to a GET, which takes no Idempotency-Key.
 */
export function isLimited(functionName: string, routes: readonly Served[]): boolean {
  return routes.some((route) => route.name === functionName && takesKey(route));
}

/** Returns whether the function of an endpoint answers HEAD too. Each GET does, except one that changes something. */
export function answersHead({ name, method }: Served, routes: readonly Served[]): boolean {
  return method === 'GET' && !isLimited(name, routes);
}

/** Returns the HTTP methods that the function of an endpoint answers. */
export function methodsOf<R extends Served>(route: R, routes: readonly Served[]): readonly (R['method'] | 'HEAD')[] {
  return answersHead(route, routes) ? [route.method, 'HEAD'] : [route.method];
}
