import * as v from 'valibot';
import { setTimeout as delay } from 'node:timers/promises';
import type { ReasonCode } from 'computation-management-formats/vocabulary';
import type { Manifest } from '../../shared/rows/manifest.ts';
import { mostKeptTokens } from '../../shared/rows/attestation.ts';
import { endingEvents, isActive, type RunReference } from '../../shared/rows/run.ts';
import { longestReason, reportSchema, stateEventIdPrefix, type LastingReport } from '../../shared/cvms/index.ts';
import type { gatewayEvents } from '../../shared/journal/journal.ts';
import { log } from '../../shared/runtime/log.ts';
import { eventId, occursOnceInARun, stateEventId, statesAfterEnd, eventOfState, inferredDetails } from '../wire/agent-events.ts';
import { FailureReason } from '../wire/failure-reason.ts';
import { type AgentState, type AgentEvent, type AgentLog, type EventKind } from '../wire/messages.ts';
import { type GatewayParts, retryPause } from './gateway-parts.ts';
import { Outbox } from './outbox.ts';
import type { ReportResult } from './service.ts';
import { timestampOf } from '../../shared/runtime/deadline.ts';

/**
 * The largest number of events that one gateway takes of a run, apart from events that occur once. An agent sends an event for
 * each piece that its algorithm writes to stderr.
 */
const mostOptionalEvents = 10_000;

/**
 * The largest number of different attestations that a gateway takes of one agent process: those that the service keeps, and an empty
 * one. A process sends one in its life, on Azure two.
 */
export const mostAttestations = mostKeptTokens + 1;

/** The identifiers of the events that show that the algorithm of a run may have begun. */
const eventsOfAlgorithm = ['Starting', 'InProgress', 'Completed', 'Failed'].map((status) => stateEventId('Running', status));

/** Follows a run on the agent process of a CVM of this gateway, and keeps the reports of the run that wait to be sent. */
export class HostedRun {
  readonly reference: RunReference;
  /**
   * The status of the run as the service last answered it. `ended` if the service only showed that the run no longer holds the
   * CVM.
   */
  status: string | undefined;
  commandId: string | undefined;
  /** The time at which the agent first showed, after a stop, that it has no run. */
  idleSince: number | undefined;
  stopSentAt: number | undefined;
  readonly outbox: Outbox;
  /** True once the agent has accepted the run. */
  isAccepted = false;
  private readonly attestations = new Set<string>();
  private readonly parts: GatewayParts;
  private readonly known = new Set<string>();
  /** The events that would end the run, until a state of the agent agrees, by their identifiers. */
  private readonly unconfirmed = new Map<string, { event: AgentEvent; since: number; occurred_at: string }>();
  private readonly failure: FailureReason;
  private optionalEvents = 0;
  private readonly toldReasons = new Set<string>();
  /** The number of failures of the run whose reasons are being looked for, so that no report says them yet. */
  private failuresToReport = 0;
  private observed: { state: AgentState; since: number } | undefined;
  /** The state of the agent in which it may fetch files, and since when it has it. */
  private fetching: { state: AgentState; since: number } | undefined;

  constructor(reference: RunReference, parts: GatewayParts, onStatus: () => void) {
    this.reference = reference;
    this.parts = parts;
    this.failure = new FailureReason(reference.computation_id);
    const { service, clock, timings } = parts;
    this.outbox = new Outbox({
      send: (reports) => service.report({ domain: reference.domain, cvmId: reference.cvm_id }, reports),
      onTaken: (results) => {
        this.learn(results);
        onStatus();
      },
      onDropped: ({ id }, reason) => {
        this.countDropped(reason);
        this.known.delete(id); // an event of the agent's state is inferred again, a while later
        this.observed = undefined;
      },
      logFields: this.logFields,
      now: () => clock.now(),
      timings,
    });
  }

  private get logFields(): Record<string, string> {
    const { domain, cvm_id, run_id } = this.reference;
    return { domain, cvm_id, run_id };
  }

  /** Counts a report of the run that was dropped. The log says each reason once. */
  private countDropped(reason: string): void {
    this.parts.counts.reportsDropped++;
    if (this.toldReasons.has(reason)) return;
    this.toldReasons.add(reason);
    log('WARN', 'A report of a run was dropped.', { ...this.logFields, reason });
  }

  get isOver(): boolean {
    return this.status !== undefined && !isActive(this.status);
  }

  get isReported(): boolean {
    return this.failuresToReport === 0 && this.outbox.isEmpty;
  }

  /** True while a report of the run waits that must never be left out. */
  get holdsLasting(): boolean {
    return this.failuresToReport > 0 || this.outbox.holdsLasting;
  }

  noteAccepted(): void {
    if (this.isAccepted) return;
    this.isAccepted = true;
    for (const hash of this.attestations) this.reportAttestation(hash); // defence
  }

  learn(results: ReportResult[]): void {
    for (const { outcome, run_status } of results) {
      if (outcome === 'recorded' || outcome === 'duplicate') this.status = run_status ?? this.status;
      if (outcome === 'unknown_run') this.status = 'deleted';
    }
  }

  /** Tells whether an event of the run with this identifier was taken before. Always false for events that may be left out. */
  knows(id: string): boolean {
    return this.known.has(id) || this.unconfirmed.has(id);
  }

  takeLog(line: AgentLog): void {
    this.failure.read(line);
    if (!this.parts.logs.write(this.reference, line)) this.parts.counts.logLinesDropped++;
  }

  accept(commandId: string, attestationHash: string | undefined): void {
    this.commandId = commandId;
    this.report({ type: 'accepted', id: `accepted:${commandId}`, command_id: commandId });
    this.noteAccepted();
    if (attestationHash !== undefined) this.attest(attestationHash);
  }

  reject(commandId: string, reason: string): void {
    const text = Array.from(reason).slice(0, longestReason).join('');
    this.report({ type: 'rejected', id: `rejected:${commandId}`, command_id: commandId, reason: text });
  }

  /**
   * Takes an attestation hash of the agent process of the run, and reports it once the agent has accepted the run: any earlier
   * event would count as the acceptance.
   */
  attest(attestation_hash: string): void {
    if (this.attestations.has(attestation_hash)) return;
    if (this.attestations.size === mostAttestations) {
      this.countDropped(`The agent has sent more than ${mostAttestations} attestations.`);
      return;
    }
    this.attestations.add(attestation_hash);
    if (this.isAccepted) this.reportAttestation(attestation_hash);
  }

  private reportAttestation(attestation_hash: string): void {
    const id = `attestation:${attestation_hash}`;
    const details = Buffer.from(JSON.stringify({ attestation_hash })).toString('base64');
    this.reportOwn({ id, event_type: 'Attestation', status: 'Received', details });
  }

  /** Takes an event of the agent. One that ends the run is reported once a state of the agent agrees: see `confirm`. */
  takeEvent(event: AgentEvent): void {
    const { event_type, status } = event;
    this.failure.note(event_type);
    const id = eventId(event);
    const isStateEvent = occursOnceInARun(event);
    if (this.knows(id)) return;
    if (event_type === 'Running' && status === 'Failed' && this.hasStopped) return;
    if (!isStateEvent && ++this.optionalEvents > mostOptionalEvents) {
      this.countDropped(`The agent has sent more than ${mostOptionalEvents} warnings.`);
      return;
    }
    // By the clock of the gateway: the time that the agent gives may be a text of the algorithm.
    const occurred_at = timestampOf(this.parts.wallClock);
    if (statesAfterEnd(event)) this.unconfirmed.set(id, { event, since: this.parts.clock.now(), occurred_at });
    else this.reportEvent(event, occurred_at);
  }

  /** True if the agent has said that it stopped the run. */
  get hasStopped(): boolean {
    return this.knows(stateEventId('Stopped', 'Stopped'));
  }

  /** True if the end of the run is reported. The service says later that the run is over, and its agent may be gone by then. */
  private get hasReportedEnd(): boolean {
    return endingEvents.some((event) => this.known.has(`${stateEventIdPrefix}${event}`));
  }

  /** True while an event that would end the run waits for a state of the agent that agrees. */
  get isUnconfirmed(): boolean {
    return this.unconfirmed.size > 0;
  }

  /**
   * Reports the events that end the run and agree with a state that the agent answered over its own connection. Refuses those with
   * which the agent still disagrees a while after they came.
   */
  confirm(state: AgentState): void {
    const { clock, timings, counts } = this.parts;
    this.failure.note(state);
    for (const [id, { event, since, occurred_at }] of this.unconfirmed) {
      const agrees = statesAfterEnd(event)?.includes(state);
      if (!agrees && clock.now() - since < timings.lateEvent) continue;
      this.unconfirmed.delete(id);
      if (agrees) this.reportEvent(event, occurred_at);
      else counts.eventsRefused++;
    }
  }

  private reportEvent(event: AgentEvent, occurred_at: string): void {
    const { event_type, status, originator } = event;
    const report = { type: 'event', id: eventId(event), event_type, status, originator, occurred_at };
    if (status === 'Failed') void this.reportFailure(report);
    else this.report(report, { isOptional: !occursOnceInARun(event) });
  }

  /**
   * Reports an event of the run that the agent did not send, or whose message was lost, but that follows from the agent's state
   * or another fact. Once the end of the run is reported, nothing follows but that a consumer has fetched the result.
   * @param reason a sentence of the gateway. Default, for a failure: what the log of the agent tells
   */
  inferEvent({ event_type, status }: EventKind, from: Record<string, string>, reason?: string): void {
    const id = stateEventId(event_type, status);
    if (this.known.has(id) || (this.hasReportedEnd && event_type !== 'Complete')) return;
    this.parts.counts.eventsInferred++;
    const details = inferredDetails({ ...from, inferred_at: timestampOf(this.parts.wallClock) });
    const report = { type: 'event', id, event_type, status, details };
    if (reason !== undefined) this.report({ ...report, reason });
    else if (status === 'Failed') void this.reportFailure(report);
    else this.report(report);
  }

  /** Reports once that the agent works on the run over another stream than the one over which it got the run. */
  noteReconnect(stream: string): void {
    const id = `reconnected:${stream}`;
    if (!this.isAccepted || this.known.has(id) || this.hasReportedEnd) return; // any earlier event would count as the acceptance
    const because = 'The agent has connected again.';
    const details = inferredDetails({ because, inferred_at: timestampOf(this.parts.wallClock) });
    this.reportOwn({ id, event_type: 'Reconnected', status: 'Warning', details });
  }

  /** Reports what the gateway itself saw, under a name that reports of CVMs may not have. */
  private reportOwn(event: { id: string; event_type: (typeof gatewayEvents)[number]; status: string; details: string }): void {
    this.known.add(event.id);
    this.outbox.add({ type: 'event', run_id: this.reference.run_id, originator: 'agent', ...event }, { isOptional: false });
  }

  private async reportFailure(report: Record<string, unknown> & { id: string }): Promise<void> {
    this.known.add(report.id);
    this.failuresToReport++;
    const { reason_code, ...given } = (await this.failure.find(() => this.readManifest())) ?? {};
    this.failuresToReport--;
    this.report({ ...report, ...given }, { reason_code });
  }

  /**
   * Reads the manifest of the run, unless another gateway has seen the algorithm. Repeats that until the table answers, because the
   * reason of the failure would be lost.
   */
  private async readManifest(): Promise<Manifest | undefined> {
    const { service, timings } = this.parts;
    for (let failures = 1; ; failures++) {
      try {
        return await service.manifestBefore(this.reference, eventsOfAlgorithm);
      } catch (error) {
        log('WARN', 'The manifest of a run cannot be read now.', this.logFields, error);
        await delay(retryPause(failures, timings), undefined, { ref: false });
      }
    }
  }

  private report(
    report: Record<string, unknown> & { id: string },
    { isOptional = false, reason_code }: { isOptional?: boolean; reason_code?: ReasonCode | undefined } = {},
  ): void {
    const parsed = v.safeParse(reportSchema, { run_id: this.reference.run_id, ...report });
    if (!parsed.success || parsed.output.type === 'heartbeat') {
      this.parts.counts.eventsRefused++;
      return;
    }
    if (!isOptional) this.known.add(report.id);
    const code = reason_code === undefined ? {} : { reason_code };
    this.outbox.add({ ...parsed.output, ...code } satisfies LastingReport, { isOptional });
  }

  /**
   * Reports the event that the agent sends on entering a state, if the event does not arrive in time.
   * @returns in how many milliseconds to ask for the state again; undefined if the event is known or reported now
   */
  observe(state: AgentState, lateEventInMilliseconds: number): number | undefined {
    const event = eventOfState[state];
    if (!event || this.known.has(stateEventId(event.event_type, event.status))) return undefined;
    const now = this.parts.clock.now();
    if (this.observed?.state !== state) this.observed = { state, since: now };
    const left = this.observed.since + lateEventInMilliseconds - now;
    if (left > 0) return left;
    this.inferEvent(event, { agent_state: state });
    return undefined;
  }

  /** Reports the failure of a run whose agent fetches files for too long, unless it waits for one that a user sends. */
  async endIfStuck(state: AgentState): Promise<void> {
    const { clock, timings } = this.parts;
    if (this.fetching?.state !== state) this.fetching = { state, since: clock.now() };
    if (!state.startsWith('Receiving') || clock.now() - this.fetching.since < timings.fetch) return;
    this.fetching.since = clock.now();
    const manifest = await this.readManifest();
    if (!manifest || this.fetching.state !== state) return;
    const files = state === 'ReceivingAlgorithm' ? [manifest.algorithm] : manifest.datasets;
    if (!files.every(({ source }) => source && 'url' in source)) return;
    const reason = `The agent did not fetch ${state === 'ReceivingAlgorithm' ? 'the algorithm' : 'the data'} in ${timings.fetch / 60_000} minutes.`;
    this.inferEvent({ event_type: 'Failed', status: 'Failed' }, { agent_state: state }, reason);
  }
}
