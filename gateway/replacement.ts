import { log } from '../shared/runtime/log.ts';
import { type GatewayParts, oneAtATime } from './session/gateway-parts.ts';
import type { Sessions } from './session/sessions.ts';

/** The deployment that started a gateway. */
export interface Deployment {
  /** The revision of the task definition of a gateway. A rollback starts gateways of a lower revision than those before. */
  revision: number;
  /** The time at which the task of the gateway was made, RFC 3339, UTC, milliseconds. */
  startedAt: string;
  /** The hours after which a replaced gateway may go, even if connections are left over which agents attested themselves. */
  drainHours: number;
  /** Makes new connections go to other gateways, before a replaced gateway stops listening. Called again if it fails. */
  leave: () => Promise<void>;
}

const hour = 60 * 60 * 1000;

/** The time in milliseconds after its start from which a gateway replaces others, so that one that fails soon replaces none. */
const settledAfter = 5 * 60 * 1000;

/**
 * Watches whether a later deployment has replaced a gateway, from some minutes after the gateway's start. A replaced gateway takes no new connections, and serves those that it
 * has: an agent attests itself once, so another connection would not be the one that attested.
 * @param stopListening closes the port of the gateway, and no connection
 * @returns `tick`, to call often, and `drained`, which resolves when the gateway may go: no agent is connected over the
 *   connection that attested and can still work on a run, or `drainHours` are over
 */
export function watchReplacement(
  { revision, startedAt, drainHours, leave }: Deployment,
  { service, clock, wallClock, timings }: GatewayParts,
  sessions: Sessions,
  stopListening: () => void,
): { tick: () => void; drained: Promise<undefined> } {
  const { promise: drained, resolve } = Promise.withResolvers<undefined>();
  let nextAt = clock.now() + Math.max(0, Date.parse(startedAt) + settledAfter - wallClock.now());
  let replacedAt: number | undefined;
  const look = oneAtATime(async () => {
    if (replacedAt === undefined) {
      if (await service.isOfNewestDeployment({ deployment: revision, startedAt })) return;
      await leave();
      stopListening();
      replacedAt = clock.now();
      log('INFO', 'A later deployment has replaced the gateway, which takes no more connections.');
    }
    const isLate = clock.now() - replacedAt > drainHours * hour;
    if (isLate || !sessions.all.some(({ isAttested }) => isAttested)) resolve(undefined);
  }, 'The gateway cannot see now whether it was replaced.');
  const tick = () => {
    if (clock.now() < nextAt) return;
    nextAt = clock.now() + timings.lease;
    look();
  };
  return { tick, drained };
}
