import { beginsRun, eventId, occursOnceInARun } from '../wire/agent-events.ts';
import { type AgentEvent, type AgentLog, sizeOf } from '../wire/messages.ts';
import type { AgentProcess } from './agent-process.ts';
import { type GatewayParts, retryPause } from './gateway-parts.ts';

type Message = { event: AgentEvent } | { line: AgentLog };

/**
 * The importance of a message of an agent: it decides the run, tells why something happened, or is a plain one that comes in
 * floods.
 */
type Rank = 'deciding' | 'telling' | 'plain';

/**
 * The largest number of messages of an agent that wait until their run is known. Above that, plain messages are left out first,
 * then those that tell a reason, oldest first.
 */
const mostWaiting = 1_000;
const mostBytesWaiting = 8 * 1024 * 1024;

/** The time in milliseconds for which a record of the agent process without a run is taken as current for lines of the log. */
const recordStandsFor = 5 * 60_000;

/**
 * Keeps the messages of an agent until it is known which run they belong to: that of the agent process, also after the run's end.
 * Another gateway may have given the process another run, so the record of the process is read again, at most once a second, if
 * an event does not fit. Lines of logs begin no run, so a record without a run is taken as current for them for five minutes.
 */
export class PendingMessages {
  private readonly agentProcess: AgentProcess;
  private readonly parts: GatewayParts;
  private waiting: Message[] = [];
  private bytesWaiting = 0;
  private reading = false;
  private retrying: NodeJS.Timeout | undefined;
  private failures = 0;
  private readAt = -Infinity;

  constructor(agentProcess: AgentProcess, parts: GatewayParts) {
    this.agentProcess = agentProcess;
    this.parts = parts;
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  get holdsDeciding(): boolean {
    return this.waiting.some((message) => rankOf(message) === 'deciding');
  }

  take(message: Message): void {
    if (this.repeatsWaiting(message)) return;
    if (this.waiting.length === 0 && this.place(message)) return;
    if (!(this.waiting.length === 0 && this.belongsToNoRun(message)) && this.makeRoomFor(message)) {
      this.waiting.push(message);
      this.bytesWaiting += sizeOf(message);
    } else this.refuse(message);
    if (this.waiting.length > 0) void this.placeAll();
  }

  private repeatsWaiting(message: Message): boolean {
    if (!('event' in message) || rankOf(message) !== 'deciding') return false;
    const { computation_id } = message.event;
    const id = eventId(message.event);
    const events = this.waiting.flatMap((each) => ('event' in each ? each.event : []));
    return events.some((each) => each.computation_id === computation_id && eventId(each) === id);
  }

  /**
   * Leaves out waiting messages that are no more important than the given one until it fits.
   * @returns false if it still does not fit
   */
  private makeRoomFor(message: Message): boolean {
    const leftOut: Rank[] = rankOf(message) === 'plain' ? ['plain'] : ['plain', 'telling'];
    while (this.isFull(message)) {
      const places = leftOut.map((rank) => this.waiting.findIndex((each) => rankOf(each) === rank));
      const place = places.find((each) => each >= 0);
      const [dropped] = place === undefined ? [] : this.waiting.splice(place, 1);
      if (!dropped) return false;
      this.bytesWaiting -= sizeOf(dropped);
      this.refuse(dropped);
    }
    return true;
  }

  private isFull(message: Message): boolean {
    return this.waiting.length >= mostWaiting || this.bytesWaiting + sizeOf(message) > mostBytesWaiting;
  }

  private belongsToNoRun(message: Message): boolean {
    const { record } = this.agentProcess;
    const isKnown = record !== undefined && record.run_id === undefined;
    return 'line' in message && isKnown && this.parts.clock.now() - this.readAt < recordStandsFor;
  }

  private async placeAll(): Promise<void> {
    if (this.reading || this.retrying) return;
    const left = this.readAt + this.parts.timings.record - this.parts.clock.now();
    if (left > 0) return this.retryIn(left);
    this.reading = true;
    try {
      await this.agentProcess.readRecord();
      this.failures = 0;
      this.readAt = this.parts.clock.now();
      this.bytesWaiting = 0;
      for (const message of this.waiting.splice(0)) if (!this.place(message, { isLast: true })) this.refuse(message);
    } catch {
      this.failures++;
      this.retryIn(retryPause(this.failures, this.parts.timings));
    } finally {
      this.reading = false;
    }
  }

  private retryIn(milliseconds: number): void {
    const retry = () => {
      this.retrying = undefined;
      void this.placeAll();
    };
    this.retrying = setTimeout(retry, milliseconds).unref();
  }

  private refuse(message: Message): void {
    if ('event' in message) this.parts.counts.eventsRefused++;
    else this.parts.counts.logLinesDropped++;
  }

  private place(message: Message, { isLast = false } = {}): boolean {
    const { run } = this.agentProcess;
    if (!run) return false;
    if ('line' in message) {
      run.takeLog(message.line);
      return true;
    }
    const { event } = message;
    const { computation_id, event_type, status } = event;
    if (computation_id !== '' && computation_id !== run.reference.computation_id) return false;
    // After a stop, an agent reports a failure of no computation.
    if (computation_id === '' && event_type === 'Running' && status === 'Failed') return true;
    // The same computation may run again, on a process that another gateway gave it to. Nothing else tells this one that the run is over.
    if (!isLast && (beginsRun(event) || run.knows(eventId(event)))) return false;
    run.takeEvent(event);
    if (run.isUnconfirmed) this.agentProcess.lookIn(0);
    return true;
  }
}

function rankOf(message: Message): Rank {
  if ('event' in message) return occursOnceInARun(message.event) ? 'deciding' : 'telling';
  return ['WARN', 'ERROR'].includes(message.line.level) ? 'telling' : 'plain';
}
