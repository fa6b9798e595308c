import type { RunReference } from '../../shared/rows/run.ts';
import * as v from 'valibot';
import type { AgentRecord } from '../../shared/attestation/index.ts';
import { reportSchema } from '../../shared/cvms/index.ts';
import { type AgentState, isWithoutRun } from '../wire/messages.ts';
import type { AgentStream } from '../wire/agent-stream.ts';
import type { CvmIdentity } from '../wire/identity.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { HostedRun } from './hosted-run.ts';
import type { Outbox } from './outbox.ts';

export const restarted = 'The agent restarted while the run was active.';

export interface Attestation {
  token: Uint8Array;
  /** The SHA-256 of the token in hex. */
  hash: string;
  kind: string;
  on: AgentStream;
}

/**
 * The agent process in a CVM, as far as the gateway knows it: its record, its state and its run. A process takes one run in its
 * life.
 */
export class AgentProcess {
  record: AgentRecord | undefined;
  run: HostedRun | undefined;
  /** True once the service has told which run holds the CVM. The record may have been read before that. */
  isLearned = false;
  state: AgentState | undefined;
  /** The stream on which this gateway sent the run to the process. */
  boundOn: AgentStream | undefined;
  /** The stream on which the present process attested itself. */
  private attestedOn: AgentStream | undefined;
  nextLookAt = 0;
  readonly identity: CvmIdentity;
  readonly parts: GatewayParts;
  private lastReported = '';
  /** The number of changes of the record, which shows whether an answer that is still on its way is out of date. */
  private changes = 0;
  /** The runs of former processes of this CVM whose reports are still on their way, by their identifiers. */
  private readonly former = new Map<string, HostedRun>();
  private readonly onRunStatus: () => void;

  constructor(identity: CvmIdentity, parts: GatewayParts, onRunStatus: () => void) {
    this.identity = identity;
    this.parts = parts;
    this.onRunStatus = onRunStatus;
  }

  get isBusy(): boolean {
    return this.run !== undefined && !this.run.isOver;
  }

  get fit(): 'ready' | 'busy' | 'spent' | 'unknown' {
    if (this.state === undefined || this.record === undefined) return 'unknown';
    if (this.record.run_id === undefined) return isWithoutRun(this.state) ? 'ready' : 'spent';
    return this.isBusy && !(this.run?.isAccepted && isWithoutRun(this.state)) ? 'busy' : 'spent';
  }

  get saysSpent(): boolean {
    return this.lastReported.endsWith('spent');
  }

  get outboxes(): Outbox[] {
    return [...(this.run ? [this.run] : []), ...this.former.values()].map(({ outbox }) => outbox);
  }

  /** Forgets what is known of the process. Another gateway may have changed the record, and the service its view of the agent. */
  forget(): void {
    this.changes++;
    this.state = undefined;
    this.record = undefined;
    this.isLearned = false;
    this.reportAgain();
  }

  /** Reports whether the agent can take a run at the next look, even if that has not changed. */
  reportAgain(): void {
    this.lastReported = '';
  }

  /** Makes the gateway look at the agent after so many milliseconds at the latest. */
  lookIn(milliseconds: number): void {
    this.nextLookAt = Math.min(this.nextLookAt, this.parts.clock.now() + milliseconds);
  }

  async learn(): Promise<void> {
    const { changes } = this;
    const { service } = this.parts;
    const [record, { run }] = await Promise.all([service.agentRecord(this.identity), service.work(this.identity)]);
    if (changes !== this.changes) return await this.learn();
    this.useRecord(record);
    this.isLearned = true;
    // The run of the record no longer holds the CVM.
    if (this.run && !this.run.isOver && run?.id !== record.run_id) this.run.status = 'ended';
    if (!run) return;
    const reference = this.referenceTo(run.id, run.computation_id);
    if (record.run_id === run.id && this.run) {
      this.run.status ??= run.status;
      if (run.accepted_at !== null) this.run.noteAccepted();
      this.run.commandId = run.run_command_id;
    } else if (run.accepted_at !== null) {
      this.loseRun(reference, run.status);
    }
  }

  /** Reads the record of the process again, for a message that does not fit what is known. */
  async readRecord(): Promise<void> {
    const { changes } = this;
    const record = await this.parts.service.agentRecord(this.identity);
    if (changes !== this.changes) return await this.readRecord();
    this.useRecord(record);
  }

  /** Uses a record that this gateway has just written. A record that is being read meanwhile may be older, and is read again. */
  setRecord(record: AgentRecord): void {
    this.changes++;
    this.useRecord(record);
  }

  private useRecord(record: AgentRecord): void {
    this.record = record;
    if (this.run?.reference.run_id === record.run_id) return;
    if (this.run) this.retire(this.run);
    this.run =
      record.run_id === undefined || record.computation_id === undefined
        ? undefined
        : this.hostRun(this.referenceTo(record.run_id, record.computation_id));
  }

  /** Reports the end of a run that a former process of this CVM had accepted, and that the present one does not have. */
  loseRun(reference: RunReference, status: string | undefined): void {
    const run = this.runOf(reference);
    if (status === 'stopping') {
      run.inferEvent({ event_type: 'Stopped', status: 'Stopped' }, { because: 'The agent no longer has the run.' });
    } else {
      run.inferEvent({ event_type: 'Failed', status: 'Failed' }, { because: restarted }, restarted);
    }
  }

  runOf(reference: RunReference): HostedRun {
    if (this.run?.reference.run_id === reference.run_id) return this.run;
    const known = this.former.get(reference.run_id);
    if (known) return known;
    const run = this.hostRun(reference);
    this.retire(run);
    return run;
  }

  private hostRun(reference: RunReference): HostedRun {
    const known = this.former.get(reference.run_id);
    this.former.delete(reference.run_id);
    return known ?? new HostedRun(reference, this.parts, this.onRunStatus);
  }

  private retire(run: HostedRun): void {
    this.parts.logs.end(run.reference.run_id);
    for (const [id, { outbox }] of this.former) if (outbox.isEmpty) this.former.delete(id);
    this.former.set(run.reference.run_id, run);
  }

  closeLogs(): void {
    if (this.run) this.parts.logs.end(this.run.reference.run_id);
  }

  referenceTo(runId: string, computationId: string): RunReference {
    return { domain: this.identity.domain, computation_id: computationId, run_id: runId, cvm_id: this.identity.cvmId };
  }

  async reportFitness(state: AgentState): Promise<void> {
    const { run, fit, isBusy } = this;
    const current = `${state} ${fit}`;
    const isHeartbeat = isBusy && run?.isAccepted && !isWithoutRun(state);
    if (!isHeartbeat && current === this.lastReported) return;
    const results = await this.parts.service.report(this.identity, [
      { type: 'heartbeat', agent_state: state, fit, ...(isHeartbeat ? { run_id: run.reference.run_id } : {}) },
    ]);
    this.lastReported = current;
    if (!isHeartbeat) return;
    run.learn(results);
    if (run.isOver) this.onRunStatus();
  }

  /**
   * Handles an attestation of a process. An attestation means that the process is new and can take a run, unless it came late
   * from a process that has a run.
   * @param isTooOften counts an attestation, and returns whether it has to wait
   * @returns false if it has to wait, or if nothing shows yet which process it came from
   */
  async takeAttestation(
    { token, hash, kind, on }: Attestation,
    streams: { agent: AgentStream | undefined },
    isTooOften: (cvm: CvmIdentity) => boolean,
  ): Promise<boolean> {
    const { service } = this.parts;
    if (!this.isLearned) await this.learn();
    const hasRun = await this.hasRunOfRecord(on, streams.agent);
    if (hasRun === undefined || isTooOften(this.identity)) return false;
    if (!hasRun && this.isBusy && this.run?.isAccepted) this.loseRun(this.run.reference, this.run.status);
    const isNew = !hasRun && on !== this.attestedOn; // a stream belongs to one process
    const attestation_hash = token.length === 0 ? undefined : hash;
    const record = await service.recordAgentProcess(this.identity, { before: this.record ?? {}, isNew, attestation_hash });
    if (record) this.setRecord(record);
    else await this.readRecord();
    const { run } = this;
    if (!record) return true;
    this.attestedOn = on;
    const { process } = record;
    const reference = hasRun ? run?.reference : undefined;
    if (reference && process !== undefined) await service.keepProcessOfRun({ ...this.identity, process, ...reference });
    if (token.length === 0) return true;
    if (reference) run?.attest(hash);
    await this.reportToken({ token, hash, kind });
    return true;
  }

  /** Reports an attestation token to the service. A token that is too long is left out: only its hash is kept. */
  private async reportToken({ token, hash, kind }: Omit<Attestation, 'on'>): Promise<void> {
    const report = v.safeParse(reportSchema, {
      type: 'attestation',
      id: hash,
      kind,
      token: Buffer.from(token).toString('base64'),
    });
    if (report.success) await this.parts.service.report(this.identity, [report.output]);
    else this.parts.counts.eventsRefused++;
  }

  /**
   * Tells whether the process that attested itself has the run of the record. A process may attest itself after it got the run,
   * on another stream. Then its state shows whether it has the run, except after a stop: a stopped process looks new.
   * @returns undefined if a run is active and no agent answers now
   */
  private async hasRunOfRecord(on: AgentStream, agent: AgentStream | undefined): Promise<boolean | undefined> {
    if (this.boundOn && on.openedAt <= this.boundOn.openedAt) return true; // no process is newer than its stream
    if (!this.run) return false;
    const state = await (on.isOpen ? on : agent)?.state();
    if (state === undefined) return this.isBusy ? undefined : false;
    return !isWithoutRun(state);
  }
}
