import type { Route } from '../../shared/http/route.ts';
import type { Throttling } from '../stage.ts';

/**
 * What API Gateway admits to a route that needs no token. Anybody may call it, so more would let anybody run up a bill and take the
 * functions of the account. docs/cost.md has the most that this costs.
 */
export function publicThrottlingOf({ name }: Pick<Route, 'name'>): Throttling {
  return name === 'service/openapi' ? { requestsPerSecond: 2, burst: 20 } : { requestsPerSecond: 10, burst: 50 };
}
