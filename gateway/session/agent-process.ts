import type { RunReference } from '../../shared/rows/run.ts';
import { type AgentState, isWithoutRun } from '../wire/messages.ts';
import type { AgentStream } from '../wire/agent-stream.ts';
import type { CvmIdentity } from '../wire/identity.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { HostedRun } from './hosted-run.ts';
import type { AgentRecord } from './service.ts';

export const restarted = 'The agent restarted while the run was active.';

const disconnected =
  'The connection over which the agent attested itself has closed, and the attestation policy allows no other connection.';

export interface Attestation {
  token: Uint8Array;
  /** The SHA-256, in hex, of an attestation token that an agent sent. */
  hash: string;
  kind: string;
  on: AgentStream;
}

/**
 * Keeps what the gateway knows of the agent process in a CVM: its stored record, its state and its run. A process takes one run
 * in its life.
 */
export class AgentProcess {
  record: AgentRecord | undefined;
  run: HostedRun | undefined;
  /** True once the gateway has read which run holds the CVM. The record of the agent process may have been read earlier. */
  isLearned = false;
  state: AgentState | undefined;
  /** The stream on which the gateway sent the run to the agent process. Undefined if this gateway has not sent it. */
  boundOn: AgentStream | undefined;
  nextLookAt = 0;
  readonly identity: CvmIdentity;
  readonly parts: GatewayParts;
  private lastReported = '';
  /**
   * The number of times that the record of the agent process was set or forgotten. A record that was read meanwhile is out of
   * date.
   */
  private changes = 0;
  /** The runs that earlier agents of this CVM had, as long as reports of them wait to be sent to the service. By the identifiers of the runs. */
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

  /** The run of the agent process, and those of former ones whose reports may still wait to be sent. */
  get runs(): HostedRun[] {
    return [...(this.run ? [this.run] : []), ...this.former.values()];
  }

  /**
   * Forgets what the gateway knows of the agent process. Another gateway may have changed its record, and the service's view of
   * the agent.
   */
  forget(): void {
    this.changes++;
    this.state = undefined;
    this.record = undefined;
    this.isLearned = false;
    this.reportAgain();
  }

  /** Makes the next look at the agent report whether it can take a run, even if that is what was reported last. */
  reportAgain(): void {
    this.lastReported = '';
  }

  /** Makes the gateway look at the agent of the CVM after the given number of milliseconds at the latest. */
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

  /**
   * Reads the stored record of the agent process again. Called when a message of the agent does not fit the run of the known
   * record.
   */
  async readRecord(): Promise<void> {
    const { changes } = this;
    const record = await this.parts.service.agentRecord(this.identity);
    if (changes !== this.changes) return await this.readRecord();
    this.useRecord(record);
  }

  /**
   * Takes over a record of the agent process that the gateway has just written. A record that is being read meanwhile may be
   * older, and is read again.
   */
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

  /**
   * Tells whether a stream of the agent is another than the one over which its process got the active run. Always false for a run
   * without an attestation policy.
   */
  isOnOtherStream({ id }: { id: string }): boolean {
    const bound = this.record?.bound_stream;
    return this.isBusy && bound !== undefined && bound !== id;
  }

  /** Tells whether what an agent says over a stream counts for the active run. */
  mayHaveRun(stream: { id: string }): boolean {
    return this.record?.allow_reconnect === true || !this.isOnOtherStream(stream);
  }

  /**
   * Ends the active run of the agent process whose stream has closed. If its attestation policy allows reconnects, records that the
   * agent works over another stream instead.
   * @param stream the present stream of the agent. Default: none
   * @returns whether the run goes on
   */
  loseStream(stream?: AgentStream): boolean {
    const { run, record } = this;
    if (!run) return false;
    if (!record?.allow_reconnect) this.loseRun(run.reference, run.status, false);
    else if (stream) run.noteReconnect(stream.id);
    return record?.allow_reconnect ?? false;
  }

  /**
   * Reports the end of a run that an agent process of the CVM had, and that the present process does not have.
   * @param isGone whether the process has ended, and the run with it. If only its connection is lost, nothing shows that it has stopped
   */
  loseRun(reference: RunReference, status: string | undefined, isGone = true): void {
    const run = this.runOf(reference);
    const reason = isGone ? restarted : disconnected;
    if (status === 'stopping' && isGone) {
      run.inferEvent({ event_type: 'Stopped', status: 'Stopped' }, { because: 'The agent no longer has the run.' });
    } else {
      run.inferEvent({ event_type: 'Failed', status: 'Failed' }, { because: reason }, reason);
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
    for (const [id, { isReported }] of this.former) if (isReported) this.former.delete(id);
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
   * Handles an attestation that an agent process sent. The process counts as new and able to take a run, unless the attestation
   * came late from a process that has a run.
   * @param isTooOften counts an attestation, and returns whether it has to wait
   * @returns false if the attestation has to wait, or if nothing shows yet which process sent it
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
    if (!hasRun && this.isBusy && this.run?.isAccepted) this.loseRun(this.run.reference, this.run.status, this.mayHaveRun(on));
    const isNew = !hasRun && on.id !== this.record?.attested_stream; // a stream is a process
    const attestation_hash = token.length === 0 ? undefined : hash;
    const attested = { before: this.record ?? {}, isNew, attestation_hash, stream: on.id };
    const record = await service.recordAgentProcess(this.identity, attested);
    if (record) this.setRecord(record);
    else await this.readRecord();
    const { run } = this;
    if (!record) return !on.isOpen;
    const { process } = record;
    const reference = hasRun ? run?.reference : undefined;
    if (reference && process !== undefined) await service.keepProcessOfRun({ ...this.identity, process, ...reference });
    if (token.length === 0) return true;
    if (reference) run?.attest(hash);
    if (process !== undefined) await service.recordToken({ ...this.identity, process }, { kind, token });
    return true;
  }

  /**
   * Tells whether the agent process that attested itself has the run of the stored record. Tokens over another stream are those of
   * another process. A process may attest itself for the first time after it got the run, on another stream. Then its state shows
   * whether it has the run, except after a stop: a stopped process looks new.
   * @returns undefined if a run is active and no agent answers now
   */
  private async hasRunOfRecord(on: AgentStream, agent: AgentStream | undefined): Promise<boolean | undefined> {
    if (!this.run) return false;
    const attestedOn = this.record?.attested_stream;
    if (attestedOn !== undefined) return attestedOn === on.id;
    if (this.boundOn && on.openedAt <= this.boundOn.openedAt) return true; // no process is newer than its stream
    const state = await (on.isOpen ? on : agent)?.state();
    if (state === undefined) return this.isBusy ? undefined : false;
    return !isWithoutRun(state);
  }
}
