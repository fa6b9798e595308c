import { randomUUID } from 'node:crypto';
import type { CommandStream } from '../../shared/rows/command-stream.ts';
import type { Question } from '../../shared/rows/messages-to-gateways.ts';
import { log } from '../../shared/runtime/log.ts';
import { leaseInMilliseconds } from '../../shared/rows/gateway-lease.ts';
import type { CvmIdentity } from '../wire/identity.ts';
import { type AgentState, isAgentState } from '../wire/messages.ts';
import { type GatewayParts, oneAtATime } from './gateway-parts.ts';

/** The time in milliseconds after which a gateway records its name again, so that the item with the name does not expire. */
const nameStandsFor = 24 * 60 * 60_000;

/**
 * The time in milliseconds for which a gateway relies on its own lease, the sign by which other gateways know that it is there.
 * It is 2 seconds shorter than the lease, because the clock of another gateway may be 2 seconds ahead.
 */
const standsForInMilliseconds = leaseInMilliseconds - 2_000;

/**
 * Keeps the lease of a gateway, which other gateways read to see whether the gateway is there. One write keeps all CVMs of the
 * gateway connected.
 */
export class LeaseKeeper {
  private readonly parts: GatewayParts;
  private readonly onLost: () => void;
  private readonly name: string | undefined;
  /** The time at which to record the name of the gateway again, so that the item with the name does not expire. */
  private nextNameAt = -Infinity;
  private renewing: Promise<void> | undefined;
  private renewedAt = -Infinity;
  /**
   * The time of day at which the lease was last renewed, by which other gateways judge it. The time of day goes on while the
   * machine is suspended.
   */
  private renewedAtTime = -Infinity;
  private nextAt = -Infinity;
  /** True once the gateway stops and gives up its lease, so that other gateways may take its CVMs over. */
  isOver = false;

  /**
   * Prepares the lease of a gateway: the sign by which other gateways know that it is there.
   * @param onLost called when the lease was not renewed in time, after other gateways may have taken its CVMs over
   */
  constructor(parts: GatewayParts, { name, onLost }: { name: string | undefined; onLost: () => void }) {
    this.parts = parts;
    this.name = name;
    this.onLost = onLost;
  }

  tick(): void {
    if (this.parts.clock.now() >= this.nextAt) this.renew().catch(() => undefined); // said there
  }

  /** Renews the lease of the gateway if it is not current. @throws Error if the table does not answer */
  async ensure(): Promise<void> {
    if (!this.isCurrent) await this.renew();
  }

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

  /** Ends the lease of the gateway, so that other gateways take its CVMs over at once. */
  async end(): Promise<void> {
    this.isOver = true;
    await this.renewing?.catch(() => undefined);
    await this.parts.service.renewLease({ isOver: true });
  }
}

export interface Peers {
  lease: LeaseKeeper;
  others: OtherGateways;
}

/** Exchanges messages with other gateways through the table: asks for the state of an agent, and answers such questions. */
export class OtherGateways {
  private readonly parts: GatewayParts;
  private readonly answerTo: (question: Question) => Promise<AgentState | undefined>;
  private readonly waiting = new Map<string, (state: AgentState | null | undefined) => void>();
  private readonly answering = new Set<string>();
  private nextAt = 0;
  private readAt = -Infinity;
  private readonly readUnlessReading = oneAtATime(() => this.read(), 'The messages of other gateways cannot be read now.');

  constructor(parts: GatewayParts, answerTo: (question: Question) => Promise<AgentState | undefined>) {
    this.parts = parts;
    this.answerTo = answerTo;
  }

  /**
   * Asks another gateway for the state of the agent on a stream of that gateway.
   * @param question `is_rival` if a second agent of the CVM has connected here: a stream that does not answer then ends
   * @returns undefined if the agent does not answer, or its gateway is gone
   * @throws Error if the table does not answer, so that nothing is known
   */
  async stateOf(
    { domain, cvmId }: CvmIdentity,
    { gateway, stream }: CommandStream,
    { is_rival } = { is_rival: false },
  ): Promise<AgentState | undefined> {
    const { service, timings, clock, id: from } = this.parts;
    if (!(await service.isAlive(gateway))) return undefined;
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<AgentState | null | undefined>();
    const askedAt = clock.now();
    this.waiting.set(id, resolve);
    // The agent's time, and that of two messages, of which each may just have missed a look.
    const timer = setTimeout(() => resolve(undefined), timings.answer + 3 * timings.messages);
    try {
      await service.sendMessage(gateway, { type: 'question', id, from, domain, cvm_id: cvmId, stream, is_rival });
      const state = await promise;
      if (state === undefined && this.readAt < askedAt + timings.answer) throw new Error('An answer could not be read.');
      return state ?? undefined;
    } finally {
      clearTimeout(timer);
      this.waiting.delete(id);
    }
  }

  tick(): void {
    const { clock, timings } = this.parts;
    if (clock.now() < this.nextAt) return;
    this.nextAt = clock.now() + timings.messages;
    this.readUnlessReading();
  }

  private async read(): Promise<void> {
    const { service, clock, id: own } = this.parts;
    const startedAt = clock.now();
    const messages = await service.messages();
    this.readAt = startedAt;
    const removals = messages.flatMap((message) => {
      if (message.type === 'answer') {
        const { state } = message;
        this.waiting.get(message.id)?.(state !== null && isAgentState(state) ? state : null);
        return [service.removeMessage(own, message.id)];
      }
      void this.answer(message);
      return [];
    });
    await Promise.all(removals);
  }

  private async answer(question: Question): Promise<void> {
    const { service, id: own } = this.parts;
    const { id, from } = question;
    if (this.answering.has(id)) return;
    this.answering.add(id);
    try {
      await service.sendMessage(from, { type: 'answer', id, state: (await this.answerTo(question)) ?? null });
      await service.removeMessage(own, id);
    } catch (error) {
      log('WARN', 'A question of another gateway cannot be answered now.', { from }, error); // the message is read again
    } finally {
      this.answering.delete(id);
    }
  }
}
