import type { PendingCommand } from '../../shared/runs/pending-commands.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { type CvmIdentity, nameOf } from '../identity/cvm-identity.ts';
import { CvmSession } from './cvm-session.ts';

/** The sessions of all CVMs that are connected to this gateway. */
export class Sessions {
  private readonly sessions = new Map<string, CvmSession>();
  private readonly parts: GatewayParts;

  constructor(parts: GatewayParts) {
    this.parts = parts;
  }

  get all(): CvmSession[] {
    return [...this.sessions.values()];
  }

  of(identity: CvmIdentity): CvmSession {
    const name = nameOf(identity);
    const session = this.sessions.get(name) ?? new CvmSession(identity, this.parts);
    this.sessions.set(name, session);
    return session;
  }

  /** Gives every CVM the commands that are pending for it. */
  setPending(commands: PendingCommand[]): void {
    const byCvm = Map.groupBy(commands, ({ domain, cvm_id }) => nameOf({ domain, cvmId: cvm_id }));
    for (const [name, session] of this.sessions) session.setPending(byCvm.get(name) ?? []);
  }

  /** Looks after the agents whose time it is, and forgets CVMs that are gone. */
  tick(): void {
    for (const [name, session] of this.sessions) {
      session.tick();
      if (session.isIdle) this.sessions.delete(name);
    }
  }
}
