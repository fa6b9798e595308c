import type { Route } from '../../shared/http/route.ts';
import type { Throttling } from '../stages/stage.ts';

/**
 * What API Gateway admits to a route that needs no token. Anyone may call it, so more would let anyone run up a bill and use up the
 * concurrent executions of the account. docs/cost.md has the most that it costs.
 */
export function publicThrottlingOf({ name }: Pick<Route, 'name'>): Throttling {
  return name === 'service/openapi' ? { requestsPerSecond: 2, burst: 20 } : { requestsPerSecond: 10, burst: 50 };
}
