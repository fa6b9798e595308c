import { log } from '../shared/runtime/log.ts';
import type { GatewayParts } from './session/gateway-parts.ts';
import type { Sessions } from './session/sessions.ts';

/** The deployment that started a gateway. */
export interface Deployment {
  /** The number of the deployment, higher than those of earlier ones. */
  number: number;
  /** The hours after which a replaced gateway may go, even if connections are left over which agents attested themselves. */
  drainHours: number;
  /** Makes new connections go to other gateways, before a replaced gateway stops listening. Called again if it fails. */
  leave: () => Promise<void>;
}

const hour = 60 * 60 * 1000;

/**
 * Watches whether a later deployment has replaced a gateway. A replaced gateway takes no new connections, and serves those that it
 * has: an agent attests itself once, so another connection would not be the one that attested.
 * @param stopListening closes the port of the gateway, and no connection
 * @returns `tick`, to call often, and `drained`, which resolves when the gateway may go: no agent is connected over the
 *   connection that attested and can still work on a run, or `drainHours` are over
 */
export function watchReplacement(
  { number, drainHours, leave }: Deployment,
  { service, clock, timings }: GatewayParts,
  sessions: Sessions,
  stopListening: () => void,
): { tick: () => void; drained: Promise<undefined> } {
  const { promise: drained, resolve } = Promise.withResolvers<undefined>();
  let nextAt = 0;
  let looking = false;
  let replacedAt: number | undefined;
  let isListening = true;
  const look = async () => {
    if (replacedAt === undefined && (await service.isOfNewestDeployment(number))) return;
    replacedAt ??= clock.now();
    if (isListening) {
      await leave();
      stopListening();
      isListening = false;
      log('INFO', 'A later deployment has replaced the gateway, which takes no more connections.');
    }
    const isLate = clock.now() - replacedAt > drainHours * hour;
    if (isLate || !sessions.all.some(({ isAttested }) => isAttested)) resolve(undefined);
  };
  const tick = () => {
    if (looking || clock.now() < nextAt) return;
    nextAt = clock.now() + timings.lease;
    looking = true;
    void look()
      .catch((error: unknown) => log('WARN', 'The gateway cannot see now whether it was replaced.', {}, error))
      .finally(() => (looking = false));
  };
  return { tick, drained };
}
