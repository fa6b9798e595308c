import { log } from '../../shared/runtime/log.ts';
import type { PendingCommand } from '../../shared/rows/command.ts';
import { type CvmIdentity, nameOf } from '../wire/identity.ts';
import { limitPerMinute } from '../wire/limits.ts';
import { CvmSession } from './cvm-session.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { LeaseKeeper, OtherGateways, type Peers } from './other-gateways.ts';

/** The largest number of attestations that a gateway records of a CVM in a minute. Each may be a write of 256 KiB. */
const mostAttestationsPerMinute = 10;

/** Keeps the sessions of all CVMs that are connected to the gateway. */
export class Sessions {
  private readonly sessions = new Map<string, CvmSession>();
  private readonly parts: GatewayParts;
  private readonly peers: Peers;
  private readonly isAttestedTooOften: (cvm: CvmIdentity) => boolean;

  constructor(parts: GatewayParts, name: string | undefined) {
    this.parts = parts;
    this.isAttestedTooOften = limitPerMinute(parts.clock, {
      most: mostAttestationsPerMinute,
      message: 'An attestation was delayed.',
      reason: 'The CVM sends too many attestations.',
    });
    this.peers = {
      lease: new LeaseKeeper(parts, { name, onLost: () => this.checkAll() }),
      others: new OtherGateways(parts, async (question) => {
        const { domain, cvm_id: cvmId } = question;
        return await this.sessions.get(nameOf({ domain, cvmId }))?.streams.stateOn(question);
      }),
    };
  }

  get all(): CvmSession[] {
    return [...this.sessions.values()];
  }

  of(identity: CvmIdentity): CvmSession {
    const name = nameOf(identity);
    const session = this.sessions.get(name) ?? new CvmSession(identity, this.parts, this.peers, this.isAttestedTooOften);
    this.sessions.set(name, session);
    return session;
  }

  setPending(commands: PendingCommand[]): void {
    const byCvm = Map.groupBy(commands, ({ domain, cvm_id }) => nameOf({ domain, cvmId: cvm_id }));
    for (const [name, session] of this.sessions) session.setPending(byCvm.get(name) ?? []);
  }

  tick(): void {
    this.peers.lease.tick();
    this.peers.others.tick();
    for (const [name, session] of this.sessions) {
      session.tick();
      if (!session.isIdle) continue;
      session.agentProcess.closeLogs();
      this.sessions.delete(name);
    }
  }

  /**
   * Compares the streams of all CVMs with their items soon, because other gateways may have taken over CVMs while the lease could
   * not be renewed. The comparisons are spread over some seconds, so that not all CVMs are read at once.
   */
  private checkAll(): void {
    for (const { streams } of this.sessions.values()) streams.checkSoon(this.parts.timings.answer * Math.random());
  }

  async end(): Promise<void> {
    await this.peers.lease
      .end()
      .catch((error: unknown) => log('WARN', 'The lease of the gateway could not be ended.', {}, error));
  }
}
