import type { Wait } from '../../shared/http/wait.ts';
import { testClock } from './test-clock.ts';

/** A wait of 20 seconds that takes no time, by an endpoint and a domain of the test's own. */
export function aWait(fields: Partial<Wait> = {}): Wait {
  const clock = fields.clock ?? testClock({ speed: 0, skipsWaits: true });
  return { clock, endsAt: clock.now() + 20_000, endpoint: 'tests/wait', domain: 'd1', perStage: 10, perDomain: 10, ...fields };
}
