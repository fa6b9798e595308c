import { createHash } from 'node:crypto';
import type { PendingCommand } from '../../shared/runs/pending-commands.ts';
import { log } from '../../shared/logger.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { type CvmIdentity, logFieldsOf } from '../identity/cvm-identity.ts';
import { isOfQuestion } from '../logs/run-logs.ts';
import { hasEnded } from '../streams/agent-states.ts';
import type { AgentStream } from '../streams/agent-stream.ts';
import type { AgentEvent, AgentLog, AttestationToken, RunResponse } from '../wire/messages.ts';
import { AgentProcess } from './agent-process.ts';
import { CvmPresence, type Peers } from './cvm-presence.ts';
import { cannotStart, deliverRun } from './deliver-run.ts';
import { FitnessReport } from './fitness-report.ts';
import { followRun } from './follow-run.ts';
import { OpenCommands } from './open-commands.ts';
import { mostAttestations } from './hosted-run.ts';
import { stopRun } from './stop-run.ts';
import { type Attestation, takeAttestation } from './take-attestation.ts';
import { PendingMessages } from './pending-messages.ts';

/** An open stream, with the SHA-256 of the certificate that it shows. */
interface OpenStream {
  fingerprint: string;
  end: (reason: string) => void;
}

/** The streams of one CVM, and what is to be done on them, one thing after the other. */
export class CvmSession {
  readonly identity: CvmIdentity;
  readonly parts: GatewayParts;
  readonly presence: CvmPresence;
  readonly agentProcess: AgentProcess;
  /** All open streams. */
  readonly streams = new Set<OpenStream>();
  agent: AgentStream | undefined;
  /** The open streams of log-forwarders. */
  forwarders = 0;
  /** Whether another gateway has the stream of the log-forwarder. */
  isForwardedElsewhere = false;
  /** When the agent last answered, or connected. */
  heardAt: number;
  private readonly pending: PendingMessages;
  private readonly isAttestedTooOften: (cvm: CvmIdentity) => boolean;
  private readonly commands = new OpenCommands();
  private readonly fitness = new FitnessReport(this);
  /** The last one that has to be kept. */
  private attestation: Attestation | undefined;
  /** When to ask the agent for its state again. */
  private nextLookAt = 0;
  private working = false;
  private again = false;
  private failures = 0;

  /** @param isAttestedTooOften counts an attestation, and returns whether it has to wait */
  constructor(identity: CvmIdentity, parts: GatewayParts, peers: Peers, isAttestedTooOften: (cvm: CvmIdentity) => boolean) {
    this.identity = identity;
    this.parts = parts;
    this.isAttestedTooOften = isAttestedTooOften;
    this.heardAt = parts.clock.now();
    this.agentProcess = new AgentProcess(identity, parts, () => this.wakeWhenOver());
    this.pending = new PendingMessages(this.agentProcess, parts);
    this.presence = new CvmPresence(this, peers);
  }

  /** Whether nothing of the CVM is left here. */
  get isIdle(): boolean {
    const isGone = this.streams.size === 0 && !this.presence.isNoted && !this.working;
    // Without a stream, nothing shows whether a busy process was replaced by a new one, so nothing waits for that.
    const isNoneBegun = this.attestation === undefined || this.agentProcess.isBusy;
    return isGone && isNoneBegun && this.isReported;
  }

  /** Whether the service has taken everything that there is to report. */
  get isReported(): boolean {
    return this.pending.isEmpty && this.agentProcess.outboxes.every((outbox) => outbox.isEmpty);
  }

  /** Whether a report waits that is never left out. */
  get holdsLasting(): boolean {
    return this.pending.holdsDeciding || this.agentProcess.outboxes.some((outbox) => outbox.holdsLasting);
  }

  /** Whether the agent answered to one of the last two questions. */
  get isHeard(): boolean {
    const { timings, clock } = this.parts;
    return this.agent !== undefined && clock.now() - this.heardAt < 2 * (timings.stateOfIdle + timings.answer);
  }

  get hasForwarder(): boolean {
    return this.forwarders > 0 || this.isForwardedElsewhere;
  }

  /** Makes a stream the one that takes the CVM's commands. CvmPresence has made sure that no other one answers. */
  connect(agent: AgentStream): void {
    this.agent?.close();
    this.agent = agent;
    this.heardAt = this.parts.clock.now();
    this.agentProcess.forget();
    this.fitness.repeat(); // meanwhile the end of a run, or another gateway, may have changed what the service takes it for
    this.wake();
  }

  disconnect(agent: AgentStream): void {
    if (this.agent === agent) this.agent = undefined;
  }

  takeAttestation({ file }: AttestationToken, on: AgentStream): void {
    if (++on.attestations > mostAttestations) {
      this.parts.counts.eventsRefused++;
      return;
    }
    this.attestation = { token: file, hash: createHash('sha256').update(file).digest('hex'), on };
    this.wake();
  }

  takeEvent(event: AgentEvent): void {
    this.pending.take({ event });
  }

  takeLog(line: AgentLog): void {
    if (!isOfQuestion(line)) this.pending.take({ line });
  }

  /**
   * Takes the answer to a run for which nothing waits any more. Only an error changes something: otherwise the agent's state says that
   * it has the run.
   */
  takeLateAnswer({ computation_id, error }: RunResponse): void {
    const { run } = this.agentProcess;
    if (error === '' || run?.reference.computation_id !== computation_id || run.isOver || run.commandId === undefined) return;
    run.reject(run.commandId, cannotStart(error));
  }

  /** Called with the commands for this CVM that are pending. */
  setPending(commands: PendingCommand[]): void {
    if (this.commands.set(commands)) this.wake();
  }

  /** Looks after the agent if it is time. */
  tick(): void {
    if ((this.agent || this.attestation) && this.parts.clock.now() >= this.nextLookAt) this.wake();
    this.presence.tick();
  }

  /** Does what is to be done now, one thing after the other. */
  private wake(): void {
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
        const pause = Math.min(this.parts.timings.longestRetry, this.parts.timings.firstRetry * 2 ** Math.min(this.failures, 10));
        this.nextLookAt = this.parts.clock.now() + pause * (0.5 + Math.random() / 2);
        log('WARN', 'A CVM cannot be served now.', logFieldsOf(this.identity), error);
      }
    }
    this.working = false; // in the same moment as the loop ends: no wake comes between
  }

  private async step(): Promise<void> {
    const { clock, timings } = this.parts;
    const { attestation, agentProcess } = this;
    if (attestation && (await takeAttestation(this, attestation, this.isAttestedTooOften))) {
      if (this.attestation === attestation) this.attestation = undefined;
    }
    const { agent } = this;
    const due = this.commands.due(clock.now());
    if (!agent || (due.length === 0 && !attestation && clock.now() < this.nextLookAt && agentProcess.isLearned)) return;
    if (!agentProcess.isLearned) await agentProcess.learn();
    const state = await agent.state();
    if (this.agent !== agent) return;
    if (state === undefined) {
      this.nextLookAt = clock.now() + timings.answer;
      return;
    }
    agentProcess.state = state;
    if (!this.isHeard) this.presence.checkSoon(); // a check may have released the CVM
    this.heardAt = clock.now();
    this.nextLookAt = clock.now() + (agentProcess.isBusy ? timings.stateOfBusy : timings.stateOfIdle) * (0.9 + Math.random() / 5);
    for (const command of due) {
      const obey = command.type === 'run' ? deliverRun : stopRun;
      if (await obey(this, agent, state, command)) this.commands.answered(command);
      else this.commands.retry(command, clock.now() + timings.command);
    }
    if (due.length === 0 || hasEnded(state)) followRun(this, agent, state);
    if (due.length > 0) this.lookIn(timings.command);
    const isGivenRun = due.some(({ type }) => type === 'run'); // the state was asked before that
    if (!isGivenRun) await this.fitness.send(state);
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

  /** The end of a run changes what the agent is fit for, and may mean that nobody needs its work any more. */
  wakeWhenOver(): void {
    if (this.agentProcess.run?.isOver && !this.fitness.saysSpent) this.lookNow();
  }

  /** Tells the service again what the agent is fit for. */
  reportAgain(): void {
    this.fitness.repeat();
    this.lookNow();
  }
}
