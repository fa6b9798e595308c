import type { Registration } from '../../shared/rows/command-stream.ts';
import type { Question } from '../../shared/rows/messages-to-gateways.ts';
import { log } from '../../shared/runtime/log.ts';
import type { AgentStream } from '../wire/agent-stream.ts';
import type { AgentState } from '../wire/messages.ts';
import { type CvmIdentity, logFieldsOf } from '../wire/identity.ts';
import type { GatewayParts } from './gateway-parts.ts';
import type { Peers } from './other-gateways.ts';

interface OpenStream {
  fingerprint: string;
  end: (reason: string) => void;
}

interface Listener {
  onConnect: () => void;
  onTakenBack: () => void;
}

/**
 * Keeps the streams of a CVM at this gateway. Notes in the CVM's item which stream takes its commands, so that only one stream of
 * all gateways does. Writes the item only when that changes.
 */
export class CvmStreams {
  readonly open = new Set<OpenStream>();
  agent: AgentStream | undefined;
  forwarders = 0;
  /** The time at which the agent of the CVM last answered, or connected. */
  private heardAt: number;
  private isForwardedElsewhere = false;
  /** The stream of the CVM's verified attestation, and the time in milliseconds at which the CVM's item was last read. */
  private attested: { stream: string | undefined; readAt: number } = { stream: undefined, readAt: 0 };
  private readonly identity: CvmIdentity;
  private readonly parts: GatewayParts;
  private readonly peers: Peers;
  private readonly listener: Listener;
  /**
   * The identifiers of the streams of this gateway that the CVM's item may name as the one that takes commands. There are several
   * after a write whose outcome is unknown.
   */
  private readonly held = new Set<string>();
  private nextCheckAt: number;
  private retryAt = 0;
  private checking = false;
  /**
   * True if the CVM's item says that this gateway has the stream of the CVM's log-forwarder. Undefined after a write whose
   * outcome is unknown.
   */
  private forwards: boolean | undefined = false;
  private lastTurn: Promise<unknown> = Promise.resolve();
  private turns = 0;

  constructor(identity: CvmIdentity, parts: GatewayParts, peers: Peers, listener: Listener) {
    this.identity = identity;
    this.parts = parts;
    this.peers = peers;
    this.listener = listener;
    this.heardAt = parts.clock.now();
    this.nextCheckAt = parts.clock.now() + parts.timings.presence * Math.random();
  }

  get isNoted(): boolean {
    return this.held.size > 0 || this.forwards !== false || this.turns > 0;
  }

  /** True if the agent of the CVM has answered one of the last two questions about its state. */
  get isHeard(): boolean {
    const { timings, clock } = this.parts;
    return this.agent !== undefined && clock.now() - this.heardAt < 2 * (timings.stateOfIdle + timings.answer);
  }

  /**
   * True if the agent of the CVM is connected over the stream of its verified attestation, or of one that may yet be verified: until
   * the CVM's item was read two presence periods after the token came.
   */
  get isAttested(): boolean {
    const { agent, attested, parts } = this;
    return (
      agent !== undefined && (agent.id === attested.stream || attested.readAt - agent.attestedAt < 2 * parts.timings.presence)
    );
  }

  get hasForwarder(): boolean {
    return this.forwarders > 0 || this.isForwardedElsewhere;
  }

  /** Tells whether the gateway may act for its CVMs: its lease is current, so no other gateway can have taken its CVMs over. */
  isSafe(): boolean {
    return this.peers.lease.isCurrent;
  }

  heard(): void {
    if (!this.isHeard) this.checkSoon(); // a check may have released the CVM
    this.heardAt = this.parts.clock.now();
  }

  disconnect(agent: AgentStream): void {
    if (this.agent === agent) this.agent = undefined;
  }

  /**
   * Admits the stream of an agent as the one that takes the CVM's commands.
   * @returns false if the agent on another stream answers, here or at another gateway, or if the admitted stream has ended
   */
  admit(agent: AgentStream): Promise<boolean> {
    const isThere = () => agent.isOpen;
    return this.inTurn(async () => {
      if (!isThere()) return false;
      const current = this.agent;
      if (current && current.fingerprint !== agent.fingerprint) await this.endStrangers();
      if (current?.isOpen && (await current.stateNow()) !== undefined) return false;
      if (!(await this.hold(agent))) return false;
      if (isThere()) this.connect(agent); // else the next check releases it
      return true;
    });
  }

  private connect(agent: AgentStream): void {
    this.agent?.close();
    this.agent = agent;
    this.heardAt = this.parts.clock.now();
    this.listener.onConnect();
  }

  /** Makes a change of the CVM's streams once the earlier changes are done, so that of two new streams the first one stays. */
  private inTurn<T>(change: () => Promise<T>): Promise<T> {
    this.turns++;
    const turn = this.lastTurn.then(change).finally(() => this.turns--);
    this.lastTurn = turn.catch(() => undefined);
    return turn;
  }

  private async hold(agent: AgentStream): Promise<boolean> {
    const { identity, parts } = this;
    await this.peers.lease.ensure();
    for (;;) {
      const registration = await parts.service.registration(identity);
      if (!registration) return true; // the next check ends its streams
      await this.findForwarder(registration);
      const instead = registration.commandStream;
      const isOfOther = instead !== undefined && instead.gateway !== parts.id;
      if (isOfOther && (await this.peers.others.stateOf(identity, instead, { is_rival: true })) !== undefined) return false;
      this.held.add(agent.id); // before the write, whose outcome may stay unknown
      if (!(await parts.service.setCommandStream(identity, { stream: agent.id, instead }))) continue;
      for (const stream of this.held) if (stream !== agent.id) this.held.delete(stream);
      return true;
    }
  }

  async isHolder(agent: AgentStream): Promise<boolean> {
    const registration = await this.parts.service.registration(this.identity);
    if (registration?.commandStream?.stream === agent.id) return true;
    this.checkSoon();
    return false;
  }

  /**
   * Answers another gateway with the state of the agent on a stream of this gateway. Undefined if the agent does not answer. If a
   * second agent of the CVM has connected to the other gateway, ends a stream that does not answer, or whose certificate was
   * replaced.
   */
  async stateOn({ stream, is_rival }: Question): Promise<AgentState | undefined> {
    const { agent } = this;
    if (agent?.id !== stream) return undefined;
    if (!is_rival) return await agent.stateNow(); // the asker needs a state of after its question
    await this.endStrangers();
    const state = await agent.stateNow();
    if (state === undefined) agent.close();
    else this.checkSoon(this.parts.timings.answer); // the other gateway may not have got the answer in time
    return state;
  }

  /**
   * Asks the gateway that has the stream of the CVM's agent for the agent's state. Undefined if no other gateway has it, or if what
   * comes over that stream does not count.
   */
  async stateElsewhere(counts: (stream: string) => boolean): Promise<AgentState | undefined> {
    const { commandStream } = (await this.parts.service.registration(this.identity)) ?? {};
    const isElsewhere = commandStream !== undefined && commandStream.gateway !== this.parts.id;
    return isElsewhere && counts(commandStream.stream)
      ? await this.peers.others.stateOf(this.identity, commandStream)
      : undefined;
  }

  checkSoon(inMilliseconds = 0): void {
    this.nextCheckAt = Math.min(this.nextCheckAt, this.parts.clock.now() + inMilliseconds);
  }

  /**
   * Compares the streams of the CVM at this gateway with those that the CVM's item names, if it is time to do so or if the
   * streams have changed.
   */
  tick(): void {
    const { clock, timings } = this.parts;
    const now = clock.now();
    const isChanged = (this.held.size > 0 && !this.isHeard) || this.forwards !== this.forwarders > 0;
    if (this.checking || (this.open.size === 0 && !isChanged)) return;
    if (now < this.nextCheckAt && !(isChanged && now >= this.retryAt)) return;
    this.nextCheckAt = now + timings.presence * (0.9 + Math.random() / 5);
    this.checking = true;
    void this.check()
      .catch((error: unknown) => {
        this.retryAt = now + timings.longestRetry;
        this.checkSoon(timings.longestRetry);
        log('WARN', 'The presence of a CVM cannot be compared now.', logFieldsOf(this.identity), error);
      })
      .finally(() => (this.checking = false));
  }

  private async check(): Promise<void> {
    await this.releaseUnlessHeard();
    await this.recordForwarder();
    if (this.open.size === 0) return;
    const registration = await this.endStrangers();
    const { agent } = this;
    if (agent === undefined || registration === undefined || !agent.isOpen || !this.isHeard) return;
    await this.findForwarder(registration);
    if (registration.commandStream?.stream === agent.id) return;
    // It was removed and registered again, or silent for a while, or another gateway took this one for gone.
    await this.inTurn(async () => {
      if (this.agent !== agent) return;
      if (await this.hold(agent)) this.listener.onTakenBack();
      else agent.close();
    });
  }

  private async endStrangers(): Promise<Registration | undefined> {
    const readAt = this.parts.clock.now();
    const registration = await this.parts.service.registration(this.identity);
    this.attested = { stream: registration?.attestedStream, readAt };
    const strangers = [...this.open].filter(({ fingerprint }) => fingerprint !== registration?.certificate);
    for (const stream of strangers) stream.end('The CVM is not registered with this certificate any more.');
    return registration;
  }

  private releaseUnlessHeard(): Promise<void> {
    return this.inTurn(async () => {
      if (this.isHeard || this.peers.lease.isOver) return;
      const { service, clock, wallClock } = this.parts;
      const lastSeenAt = wallClock.now() - (clock.now() - this.heardAt);
      for (const stream of this.held) {
        await service.clearCommandStream(this.identity, { stream, lastSeenAt });
        this.held.delete(stream);
      }
    });
  }

  private async recordForwarder(): Promise<void> {
    const isThere = this.forwarders > 0;
    if (isThere === this.forwards || this.peers.lease.isOver) return;
    this.forwards = undefined;
    await this.parts.service.recordForwarder(this.identity, isThere);
    this.forwards = isThere;
  }

  private async findForwarder({ forwarder }: Registration): Promise<void> {
    const isElsewhere = forwarder !== undefined && forwarder !== this.parts.id;
    this.isForwardedElsewhere = isElsewhere && (await this.parts.service.isAlive(forwarder));
  }
}
