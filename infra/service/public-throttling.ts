import type { Route } from '../../shared/http/route.ts';
import type { Throttling } from '../stages/stage.ts';

/** What API Gateway admits to a route that needs no token, since anyone may run up a bill there (docs/cost.md). */
export function publicThrottlingOf({ name }: Pick<Route, 'name'>): Throttling {
  return name === 'service/openapi' ? { requestsPerSecond: 2, burst: 20 } : { requestsPerSecond: 10, burst: 50 };
}
