import type { Registration } from '../../shared/cvms/command-stream.ts';
import { log } from '../../shared/logger.ts';
import { logFieldsOf } from '../identity/cvm-identity.ts';
import type { AgentStream } from '../streams/agent-stream.ts';
import type { CvmSession } from './cvm-session.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import type { OtherGateways } from './other-gateways.ts';

export interface Peers {
  lease: LeaseKeeper;
  others: OtherGateways;
}

/**
 * Keeps in the item of a CVM which stream takes its commands, so that it is one among those of all gateways, and that the CVM is
 * connected while this gateway lives. The item is written when that changes.
 */
export class CvmPresence {
  private readonly session: CvmSession;
  private readonly peers: Peers;
  /** The streams of this gateway that the item may name: more than one after a write whose outcome is unknown. */
  private readonly held = new Set<string>();
  private nextCheckAt: number;
  private retryAt = 0;
  private checking = false;
  /** Whether the item says that the log-forwarder is here; undefined after a write whose outcome is unknown. */
  private forwards: boolean | undefined = false;
  private lastTurn: Promise<unknown> = Promise.resolve();
  private turns = 0;

  constructor(session: CvmSession, peers: Peers) {
    const { clock, timings } = session.parts;
    this.session = session;
    this.peers = peers;
    this.nextCheckAt = clock.now() + timings.presence * Math.random();
  }

  /** Whether the item may name this gateway. */
  get isNoted(): boolean {
    return this.held.size > 0 || this.forwards !== false || this.turns > 0;
  }

  /**
   * Makes an agent's stream the one that takes the CVM's commands, unless another one of this or any other gateway answers.
   * @returns false if another one answers, or if the stream has ended meanwhile
   */
  admit(agent: AgentStream): Promise<boolean> {
    const isThere = () => agent.isOpen;
    return this.inTurn(async () => {
      if (!isThere()) return false;
      const { agent: current } = this.session;
      if (current && current.fingerprint !== agent.fingerprint) await this.endStrangers();
      if (current?.isOpen && (await current.state()) !== undefined) return false;
      if (!(await this.hold(agent))) return false;
      if (isThere()) this.session.connect(agent); // else the next check releases it
      return true;
    });
  }

  /** Changes who holds the CVM after the changes that began before, so that of two new streams the first one stays. */
  private inTurn<T>(change: () => Promise<T>): Promise<T> {
    this.turns++;
    const turn = this.lastTurn.then(change).finally(() => this.turns--);
    this.lastTurn = turn.catch(() => undefined);
    return turn;
  }

  private async hold(agent: AgentStream): Promise<boolean> {
    const { identity, parts } = this.session;
    await this.peers.lease.ensure();
    for (;;) {
      const registration = await parts.service.registration(identity);
      if (!registration) return true; // the next check ends its streams
      await this.findForwarder(registration);
      const instead = registration.commandStream;
      const isOfOther = instead !== undefined && instead.gateway !== parts.id;
      if (isOfOther && (await this.peers.others.doesAnswer(identity, instead))) return false;
      this.held.add(agent.id); // before the write, whose outcome may stay unknown
      if (!(await parts.service.setCommandStream(identity, { stream: agent.id, instead }))) continue;
      for (const stream of this.held) if (stream !== agent.id) this.held.delete(stream);
      return true;
    }
  }

  /** Whether no other gateway can have taken this one for gone. */
  isSafe(): boolean {
    return this.peers.lease.isCurrent;
  }

  /** Whether the item names this stream now. */
  async isHolder(agent: AgentStream): Promise<boolean> {
    const registration = await this.session.parts.service.registration(this.session.identity);
    if (registration?.commandStream?.stream === agent.id) return true;
    this.checkSoon();
    return false;
  }

  /**
   * Answers another gateway, to which a second agent has connected. A stream that does not answer ends, and so does one whose
   * certificate was replaced: by that of the second agent.
   */
  async answersOn(stream: string): Promise<boolean> {
    const { agent } = this.session;
    if (agent?.id !== stream) return false;
    await this.endStrangers();
    if ((await agent.state()) === undefined) {
      agent.close();
      return false;
    }
    // The other gateway may not have got the answer in time.
    this.checkSoon(this.session.parts.timings.answer);
    return true;
  }

  checkSoon(inMilliseconds = 0): void {
    this.nextCheckAt = Math.min(this.nextCheckAt, this.session.parts.clock.now() + inMilliseconds);
  }

  /** Compares the item with the streams if it is time, or if they have changed. */
  tick(): void {
    const { streams, parts } = this.session;
    const now = parts.clock.now();
    const isChanged = (this.held.size > 0 && !this.session.isHeard) || this.forwards !== this.session.forwarders > 0;
    if (this.checking || (streams.size === 0 && !isChanged)) return;
    if (now < this.nextCheckAt && !(isChanged && now >= this.retryAt)) return;
    this.nextCheckAt = now + parts.timings.presence * (0.9 + Math.random() / 5);
    this.checking = true;
    void this.check()
      .catch((error: unknown) => {
        this.retryAt = now + parts.timings.longestRetry;
        this.checkSoon(parts.timings.longestRetry);
        log('WARN', 'The presence of a CVM cannot be compared now.', logFieldsOf(this.session.identity), error);
      })
      .finally(() => (this.checking = false));
  }

  private async check(): Promise<void> {
    await this.releaseUnlessHeard();
    await this.recordForwarder();
    if (this.session.streams.size === 0) return;
    const registration = await this.endStrangers();
    const { agent } = this.session;
    if (agent === undefined || registration === undefined || !agent.isOpen || !this.session.isHeard) return;
    await this.findForwarder(registration);
    if (registration.commandStream?.stream === agent.id) return;
    // It was removed and registered again, or silent for a while, or another gateway took this one for gone.
    await this.inTurn(async () => {
      if (this.session.agent !== agent) return;
      if (await this.hold(agent)) this.session.reportAgain();
      else agent.close();
    });
  }

  /** Ends the streams with another certificate than the CVM is registered with now. */
  private async endStrangers(): Promise<Registration | undefined> {
    const { identity, parts, streams } = this.session;
    const registration = await parts.service.registration(identity);
    const strangers = [...streams].filter(({ fingerprint }) => fingerprint !== registration?.certificate);
    for (const stream of strangers) stream.end('The CVM is not registered with this certificate any more.');
    return registration;
  }

  /** Notes that this gateway has no stream of an agent that answers. */
  private releaseUnlessHeard(): Promise<void> {
    return this.inTurn(async () => {
      if (this.session.isHeard || this.peers.lease.isOver) return;
      const { identity, parts, heardAt } = this.session;
      const lastSeenAt = parts.wallClock.now() - (parts.clock.now() - heardAt);
      for (const stream of this.held) {
        await parts.service.clearCommandStream(identity, { stream, lastSeenAt });
        this.held.delete(stream);
      }
    });
  }

  /** Tells other gateways whether the CVM's log-forwarder is here. */
  private async recordForwarder(): Promise<void> {
    const isThere = this.session.forwarders > 0;
    if (isThere === this.forwards || this.peers.lease.isOver) return;
    this.forwards = undefined;
    await this.session.parts.service.recordForwarder(this.session.identity, isThere);
    this.forwards = isThere;
  }

  private async findForwarder({ forwarder }: Registration): Promise<void> {
    const { parts } = this.session;
    const isElsewhere = forwarder !== undefined && forwarder !== parts.id;
    this.session.isForwardedElsewhere = isElsewhere && (await parts.service.isAlive(forwarder));
  }
}
