import { createHash } from 'node:crypto';
import type { AgentRecord } from '../../shared/runs/agent-record.ts';
import type { PendingCommand } from '../../shared/runs/pending-commands.ts';
import type { RunReference } from '../../shared/runs/run-reference.ts';
import { log } from '../../shared/logger.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { type CvmIdentity, nameOf } from '../identity/cvm-identity.ts';
import { type AgentState, hasEnded, isWithoutRun } from '../streams/agent-states.ts';
import type { AgentStream } from '../streams/agent-stream.ts';
import type { AgentEvent, AgentLog, AttestationToken, RunResponse } from '../wire/messages.ts';
import { CvmPresence, type Peers } from './cvm-presence.ts';
import { cannotStart, deliverRun } from './deliver-run.ts';
import { followRun } from './follow-run.ts';
import { HostedRun } from './hosted-run.ts';
import { stopRun } from './stop-run.ts';
import { UnplacedMessages } from './unplaced-messages.ts';

/** An open stream, with the SHA-256 of the certificate that it shows. */
interface OpenStream {
  fingerprint: string;
  end: (reason: string) => void;
}

/** An attestation token, and the stream that it came on. */
interface AttestedOn {
  token: Uint8Array;
  hash: string;
  on: AgentStream;
}

/** A process sends one token, and on Azure two, once in its life. */
const mostAttestationsPerStream = 4;

/** What this gateway has to do with one CVM, while it has a stream of it or a report on its runs. */
export class CvmSession {
  readonly identity: CvmIdentity;
  readonly parts: GatewayParts;
  readonly presence: CvmPresence;
  /** All open streams. */
  readonly streams = new Set<OpenStream>();
  agent: AgentStream | undefined;
  /** The open streams of log-forwarders. */
  forwarders = 0;
  /** Whether another gateway has the stream of the log-forwarder. */
  isForwardedElsewhere = false;
  /** What the agent process was given; undefined until it was read. */
  record: AgentRecord | undefined;
  /** The run of `record`. */
  run: HostedRun | undefined;
  /** When to ask the agent for its state again. */
  nextLookAt = 0;
  /** The stream on which this gateway sent the run. */
  boundOn: AgentStream | undefined;
  private state: AgentState | undefined;
  /** When the agent last answered, or connected. */
  heardAt: number;
  /** Runs that no process of this CVM has any more, whose reports are still on their way. */
  private readonly former = new Map<string, HostedRun>();
  private readonly unplaced: UnplacedMessages;
  private readonly isAttestedTooOften: (cvm: CvmIdentity) => boolean;
  private pending: PendingCommand[] = [];
  /** When to obey which command again. A command that is answered is not obeyed again. */
  private readonly retryAt = new Map<string, number>();
  private newProcess: AttestedOn | undefined;
  private lastReported = '';
  private working = false;
  private again = false;
  private failures = 0;

  /** @param isAttestedTooOften counts an attestation, and returns whether it has to wait */
  constructor(identity: CvmIdentity, parts: GatewayParts, peers: Peers, isAttestedTooOften: (cvm: CvmIdentity) => boolean) {
    this.identity = identity;
    this.parts = parts;
    this.isAttestedTooOften = isAttestedTooOften;
    this.heardAt = parts.clock.now();
    this.unplaced = new UnplacedMessages(this);
    this.presence = new CvmPresence(this, peers);
  }

  get isBusy(): boolean {
    return this.run !== undefined && !this.run.isOver;
  }

  /** Whether nothing of the CVM is left here. */
  get isIdle(): boolean {
    const isGone = this.streams.size === 0 && !this.presence.isNoted && !this.working;
    // Without a stream, nothing shows whether a busy process was replaced by a new one, so nothing waits for that.
    const isNoneBegun = this.newProcess === undefined || this.isBusy;
    return isGone && isNoneBegun && this.outboxes.every((outbox) => outbox.isEmpty);
  }

  /** Whether the agent answered to one of the last two questions. */
  get isHeard(): boolean {
    const { pace, clock } = this.parts;
    return this.agent !== undefined && clock.now() - this.heardAt < 2 * (pace.stateOfIdle + pace.answer);
  }

  get hasForwarder(): boolean {
    return this.forwarders > 0 || this.isForwardedElsewhere;
  }

  get outboxes() {
    return [...(this.run ? [this.run] : []), ...this.former.values()].map(({ outbox }) => outbox);
  }

  get fit(): 'ready' | 'busy' | 'spent' | 'unknown' {
    if (this.state === undefined || this.record === undefined) return 'unknown';
    if (this.record.run_id === undefined) return isWithoutRun(this.state) ? 'ready' : 'spent';
    return this.isBusy && !(this.run?.isAccepted && isWithoutRun(this.state)) ? 'busy' : 'spent';
  }

  /** Makes a stream the one that takes the CVM's commands. CvmPresence has made sure that no other one answers. */
  connect(agent: AgentStream): void {
    this.agent?.close();
    this.agent = agent;
    this.heardAt = this.parts.clock.now();
    this.state = undefined;
    this.record = undefined; // another gateway may have changed it
    this.wake();
  }

  disconnect(agent: AgentStream): void {
    if (this.agent === agent) this.agent = undefined;
  }

  takeAttestation(token: AttestationToken, on: AgentStream): void {
    if (++on.attestations > mostAttestationsPerStream) {
      this.parts.counts.eventsRefused++;
      return;
    }
    const hash = createHash('sha256').update(token.file).digest('hex');
    this.newProcess = { token: token.file, hash, on };
    this.wake();
  }

  takeEvent(event: AgentEvent): void {
    this.unplaced.take({ event });
  }

  takeLog(line: AgentLog): void {
    this.unplaced.take({ line });
  }

  /**
   * Takes the answer to a run for which nothing waits any more. Only an error changes something: otherwise the agent's state says that
   * it has the run.
   */
  takeLateAnswer({ computation_id, error }: RunResponse): void {
    const { run } = this;
    if (error === '' || run?.reference.computation_id !== computation_id || run.isOver || run.commandId === undefined) return;
    run.reject(run.commandId, cannotStart(error));
  }

  /** Called with the commands for this CVM that are pending. */
  setPending(commands: PendingCommand[]): void {
    if (commands.length === 0 && this.pending.length === 0) return;
    this.pending = commands;
    const ids = new Set(commands.map(({ id }) => id));
    for (const id of this.retryAt.keys()) if (!ids.has(id)) this.retryAt.delete(id);
    this.wake();
  }

  /** Looks after the agent if it is time. */
  tick(): void {
    const now = this.parts.clock.now();
    if ((this.agent || this.newProcess) && now >= this.nextLookAt) this.wake();
    this.presence.tick();
  }

  /** Does what is to be done now, one thing after the other. */
  wake(): void {
    this.again = true;
    if (this.working) return;
    this.working = true;
    void this.work();
  }

  private async work(): Promise<void> {
    while (this.again) {
      this.again = false;
      try {
        await this.step();
        this.failures = 0;
      } catch (error) {
        this.failures++;
        const pause = Math.min(this.parts.pace.longestRetry, this.parts.pace.firstRetry * 2 ** Math.min(this.failures, 10));
        this.nextLookAt = this.parts.clock.now() + pause * (0.5 + Math.random() / 2);
        log('WARN', 'A CVM cannot be served now.', { cvm: nameOf(this.identity) }, error);
      }
    }
    this.working = false; // in the same moment as the loop ends: no wake comes between
  }

  private async step(): Promise<void> {
    const { clock, pace } = this.parts;
    const attested = this.newProcess;
    if (attested) await this.beginProcess(attested);
    const { agent } = this;
    const due = this.pending.filter(({ id }) => (this.retryAt.get(id) ?? 0) <= clock.now());
    if (!agent || (due.length === 0 && !attested && clock.now() < this.nextLookAt && this.record)) return;
    if (!this.record) await this.learn();
    const state = await agent.state();
    if (this.agent !== agent) return;
    this.state = state ?? this.state;
    if (state !== undefined) this.heardAt = clock.now();
    this.nextLookAt = clock.now() + (this.isBusy ? pace.stateOfBusy : pace.stateOfIdle) * (0.9 + Math.random() / 5);
    if (state === undefined) {
      this.nextLookAt = clock.now() + pace.answer;
      return;
    }
    for (const command of due) {
      const isAnswered =
        command.type === 'run' ? await deliverRun(this, agent, state, command) : await stopRun(this, agent, state, command);
      this.retryAt.set(command.id, isAnswered ? Infinity : clock.now() + pace.command);
    }
    if (due.length === 0 || hasEnded(state)) followRun(this, agent, state);
    if (due.length > 0) this.lookIn(pace.command);
    const isGivenRun = due.some(({ type }) => type === 'run'); // the state was asked before that
    if (!isGivenRun) await this.reportFitness(state);
  }

  /** Asks the agent again after this time, if it was not to be asked before. */
  lookIn(milliseconds: number): void {
    this.nextLookAt = Math.min(this.nextLookAt, this.parts.clock.now() + milliseconds);
  }

  /** Asks the agent again at once. */
  lookNow(): void {
    this.nextLookAt = 0;
    this.wake();
  }

  /** Reads what the agent process was given and which run holds the CVM. */
  async learn(): Promise<void> {
    const { service } = this.parts;
    const [record, { run }] = await Promise.all([service.agentRecord(this.identity), service.work(this.identity)]);
    this.setRecord(record);
    // The run of the record no longer holds the CVM.
    if (this.run && !this.run.isOver && run?.id !== record.run_id) this.run.status = 'ended';
    if (!run) return;
    const reference = this.referenceTo(run.id, run.computation_id);
    if (record.run_id === run.id && this.run) {
      this.run.status ??= run.status;
      this.run.isAccepted ||= run.accepted_at !== null;
      this.run.commandId = run.run_command_id;
    } else if (run.accepted_at !== null) {
      this.loseRun(reference, run.status);
    }
  }

  setRecord(record: AgentRecord): void {
    this.record = record;
    if (this.run?.reference.run_id === record.run_id) return;
    if (this.run) this.retire(this.run);
    this.run =
      record.run_id === undefined || record.computation_id === undefined
        ? undefined
        : this.hostRun(this.referenceTo(record.run_id, record.computation_id));
  }

  /** Reads again what the agent process was given, for a message that fits nothing. */
  async readRecord(): Promise<void> {
    this.setRecord(await this.parts.service.agentRecord(this.identity));
  }

  private async beginProcess(attested: AttestedOn): Promise<void> {
    const { service } = this.parts;
    const { token, hash, on } = attested;
    if (!this.record) await this.learn();
    const hasRun = await this.hasRun(on);
    if (hasRun === undefined || this.isAttestedTooOften(this.identity)) return;
    if (!hasRun && this.isBusy && this.run?.isAccepted) this.loseRun(this.run.reference, this.run.status);
    const process = { before: this.record ?? {}, isNew: !hasRun, attestation: token, attestation_hash: hash };
    const record = await service.recordAgentProcess(this.identity, process);
    if (record) this.setRecord(record);
    else await this.readRecord();
    if (record && hasRun && this.run) {
      const { run_id, computation_id } = this.run.reference;
      const { attestation_hash } = record;
      await service.keepAttestationOfRun(this.identity, { run_id, computation_id, attestation_hash });
      if (token.length > 0) this.run.attest(hash);
    }
    if (this.newProcess === attested) this.newProcess = undefined;
  }

  /**
   * Whether a process has the run of the record, or had it. A process may attest itself after it got a run, and on another stream than
   * the run came on. Then its state shows whether it has the run, except after a stop: a process that was stopped looks new.
   * @returns undefined if a run is active and no agent answers now
   */
  private async hasRun(on: AgentStream): Promise<boolean | undefined> {
    if (this.boundOn && on.openedAt <= this.boundOn.openedAt) return true; // no process is newer than its stream
    if (!this.run) return false;
    const state = await (on.isOpen ? on : this.agent)?.state();
    if (state === undefined) return this.isBusy ? undefined : false;
    return !isWithoutRun(state);
  }

  /** Ends a run that the agent process does not have, though a process of this CVM had accepted it. */
  private loseRun(reference: RunReference, status: string | undefined): void {
    const run = this.runOf(reference);
    if (status === 'stopping') {
      run.inferEvent({ event_type: 'Stopped', status: 'Stopped' }, { because: 'The agent no longer has the run.' });
    } else {
      const reason = 'The agent restarted while the run was active.';
      run.inferEvent({ event_type: 'Failed', status: 'Failed' }, { because: reason }, reason);
    }
  }

  /** The run, if the agent process has it, or a run that none has any more. */
  runOf(reference: RunReference): HostedRun {
    if (this.run?.reference.run_id === reference.run_id) return this.run;
    const known = this.former.get(reference.run_id);
    if (known) return known;
    const run = this.hostRun(reference);
    this.retire(run);
    return run;
  }

  /** Nothing of the CVM is left here. */
  end(): void {
    if (this.run) this.parts.logs.end(this.run.reference.run_id);
  }

  private hostRun(reference: RunReference): HostedRun {
    const known = this.former.get(reference.run_id);
    this.former.delete(reference.run_id);
    return known ?? new HostedRun(reference, this.parts, () => this.wakeWhenOver());
  }

  private retire(run: HostedRun): void {
    this.parts.logs.end(run.reference.run_id);
    for (const [id, { outbox }] of this.former) if (outbox.isEmpty) this.former.delete(id);
    this.former.set(run.reference.run_id, run);
  }

  /** The end of a run changes what the agent is fit for, and may mean that it works in vain. */
  private wakeWhenOver(): void {
    if (this.run?.isOver && !this.lastReported.endsWith('spent')) this.lookNow();
  }

  referenceTo(runId: string, computationId: string): RunReference {
    return { domain: this.identity.domain, computation_id: computationId, run_id: runId, cvm_id: this.identity.cvmId };
  }

  /** Tells the journal of the active run that someone else tried to be this CVM. Once a minute. */
  async journalConflict(refusal: { reason: string; peer: string }): Promise<void> {
    if (!this.isBusy || !this.run?.isAccepted) {
      await this.parts.service.journalRefusal(this.identity, { ...refusal, isConflict: true });
      return;
    }
    const minute = new Date(this.parts.clock.now()).toISOString().slice(0, 16);
    const details = Buffer.from(JSON.stringify({ detail: refusal.reason, peer: refusal.peer })).toString('base64');
    const event = { event_type: 'IdentityConflict', status: 'Warning', details };
    this.run.report({ type: 'event', id: `conflict:${minute}`, ...event });
  }

  /** Tells the service again what the agent is fit for. */
  reportAgain(): void {
    this.lastReported = '';
    this.lookNow();
  }

  /** Tells the service that the agent works on its run, or what has changed of it. */
  private async reportFitness(state: AgentState): Promise<void> {
    const { run, fit, isBusy } = this;
    const current = `${state} ${fit}`;
    const isHeartbeat = isBusy && run?.isAccepted && !isWithoutRun(state);
    if (!isHeartbeat && current === this.lastReported) return;
    const results = await this.parts.service.report(this.identity, [
      { type: 'heartbeat', agent_state: state, fit, ...(isHeartbeat ? { run_id: run.reference.run_id } : {}) },
    ]);
    this.lastReported = current;
    if (isHeartbeat) run.learn(results);
    if (isHeartbeat && run.isOver) this.wakeWhenOver();
  }
}
