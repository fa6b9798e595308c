import type { Access } from '../access/caller.ts';
import type { Uses } from '../uses.ts';

/** Where an endpoint is and who may call it. CDK, the one-machine stack, the OpenAPI document and the tests derive from it. */
export interface Route {
  /** File below functions/ and below shared/endpoints/, test, construct id and log dimension. */
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
}

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
