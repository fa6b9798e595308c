import type { AgentRecord } from '../../shared/runs/agent-record.ts';
import type { RunReference } from '../../shared/runs/run-reference.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import type { CvmIdentity } from '../identity/cvm-identity.ts';
import type { Outbox } from '../reports/outbox.ts';
import { type AgentState, isWithoutRun } from '../streams/agent-states.ts';
import type { AgentStream } from '../streams/agent-stream.ts';
import { HostedRun } from './hosted-run.ts';

/** What is known of the agent process of a CVM: its state, and the run that it was given. A process takes one run in its life. */
export class AgentProcess {
  /** What the process was given; undefined until it was read. */
  record: AgentRecord | undefined;
  /** The run of `record`. */
  run: HostedRun | undefined;
  /** Whether the service has told which run holds the CVM. Messages may have the record read before that. */
  isLearned = false;
  /** The state in its last answer on the present stream. */
  state: AgentState | undefined;
  /** The stream on which this gateway sent the run. */
  boundOn: AgentStream | undefined;
  /** Counts what makes an answer out of date that is still on its way. */
  private changes = 0;
  /** Runs that no process of this CVM has any more, whose reports are still on their way. */
  private readonly former = new Map<string, HostedRun>();
  private readonly identity: CvmIdentity;
  private readonly parts: GatewayParts;
  private readonly onRunStatus: () => void;

  /** @param onRunStatus called when the service has told the status of a run */
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

  get outboxes(): Outbox[] {
    return [...(this.run ? [this.run] : []), ...this.former.values()].map(({ outbox }) => outbox);
  }

  /** A stream has come in place of another. Meanwhile another gateway may have changed the record. */
  forget(): void {
    this.changes++;
    this.state = undefined;
    this.record = undefined;
    this.isLearned = false;
  }

  /** Reads what the process was given and which run holds the CVM. */
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

  /** Reads again what the process was given, for a message that fits nothing. */
  async readRecord(): Promise<void> {
    const { changes } = this;
    const record = await this.parts.service.agentRecord(this.identity);
    if (changes !== this.changes) return await this.readRecord();
    this.useRecord(record);
  }

  /** Takes over what was written. What is being read may be older. */
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

  /** Ends a run that the process does not have, though a process of this CVM had accepted it. */
  loseRun(reference: RunReference, status: string | undefined): void {
    const run = this.runOf(reference);
    if (status === 'stopping') {
      run.inferEvent({ event_type: 'Stopped', status: 'Stopped' }, { because: 'The agent no longer has the run.' });
    } else {
      const reason = 'The agent restarted while the run was active.';
      run.inferEvent({ event_type: 'Failed', status: 'Failed' }, { because: reason }, reason);
    }
  }

  /** The run, if the process has it, or a run that none has any more. */
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

  /** Closes the log of the run. */
  closeLogs(): void {
    if (this.run) this.parts.logs.end(this.run.reference.run_id);
  }

  referenceTo(runId: string, computationId: string): RunReference {
    return { domain: this.identity.domain, computation_id: computationId, run_id: runId, cvm_id: this.identity.cvmId };
  }
}
