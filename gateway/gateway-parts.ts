import type { Clock } from '../shared/clock.ts';
import type { RunLogs } from './logs/run-logs.ts';
import type { GatewayCounts } from './metrics/gateway-counts.ts';
import type { GatewayTimings } from './gateway-timings.ts';
import type { GatewayService } from './service.ts';

/** What the sessions of all CVMs share. */
export interface GatewayParts {
  /** Identifies the process of this gateway. */
  id: string;
  service: GatewayService;
  logs: RunLogs;
  counts: GatewayCounts;
  timings: GatewayTimings;
  /** Measures durations. It is never set. */
  clock: Clock;
  /** Tells the time of day. */
  wallClock: Clock;
}
