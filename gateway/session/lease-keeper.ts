import { leaseInMilliseconds } from '../../shared/runs/gateway-lease.ts';
import { log } from '../../shared/logger.ts';
import type { GatewayParts } from '../gateway-parts.ts';

/** How often a gateway takes its name again, in milliseconds. */
const nameStandsFor = 24 * 60 * 60_000;

/** The clock of another gateway may be up to 2 seconds ahead. It then takes this gateway for gone up to 2 seconds earlier. */
const standsForInMilliseconds = leaseInMilliseconds - 2_000;

/** Shows the other gateways that this one is alive. One write keeps all of its CVMs connected. */
export class LeaseKeeper {
  private readonly parts: GatewayParts;
  private readonly onLost: () => void;
  private readonly name: string | undefined;
  /** When to take the name again, so that its item is not deleted as one of a gateway that is gone. */
  private nextNameAt = -Infinity;
  private renewing: Promise<void> | undefined;
  private renewedAt = -Infinity;
  /** The same by the time of day, by which the others judge. It goes on while this machine is suspended. */
  private renewedAtTime = -Infinity;
  private nextAt = -Infinity;
  /** Whether this gateway stops, so that its CVMs are left to others as they are. */
  isOver = false;

  /** @param onLost called after others may have taken this gateway for gone */
  constructor(parts: GatewayParts, { name, onLost }: { name: string | undefined; onLost: () => void }) {
    this.parts = parts;
    this.name = name;
    this.onLost = onLost;
  }

  /** Renews the lease if it is time. */
  tick(): void {
    if (this.parts.clock.now() >= this.nextAt) this.renew().catch(() => undefined); // said there
  }

  /** Makes sure that the others take this gateway for alive. @throws Error if the table does not answer */
  async ensure(): Promise<void> {
    if (!this.isCurrent) await this.renew();
  }

  /** Whether the others take this gateway for alive. */
  get isCurrent(): boolean {
    const { clock, wallClock } = this.parts;
    return Math.max(clock.now() - this.renewedAt, wallClock.now() - this.renewedAtTime) < standsForInMilliseconds;
  }

  private renew(): Promise<void> {
    this.renewing ??= this.write().finally(() => (this.renewing = undefined));
    return this.renewing;
  }

  private async write(): Promise<void> {
    const { service, clock, wallClock, timings } = this.parts;
    const startedAt = clock.now();
    const startedAtTime = wallClock.now();
    const wasLost = !this.isCurrent;
    this.nextAt = startedAt + timings.lease;
    if (this.isOver) return;
    try {
      if (this.name !== undefined && startedAt >= this.nextNameAt) {
        await service.takeName(this.name);
        this.nextNameAt = startedAt + nameStandsFor;
      }
      await service.renewLease({ isOver: false });
    } catch (error) {
      this.nextAt = startedAt + timings.firstRetry;
      log('WARN', 'The lease of the gateway cannot be renewed now.', {}, error);
      throw error;
    }
    this.renewedAt = startedAt;
    this.renewedAtTime = startedAtTime;
    if (wasLost) this.onLost();
  }

  /** Lets others take over the CVMs of this gateway at once. */
  async end(): Promise<void> {
    this.isOver = true;
    await this.renewing?.catch(() => undefined);
    await this.parts.service.renewLease({ isOver: true });
  }
}
