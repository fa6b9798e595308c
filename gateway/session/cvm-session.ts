import { createHash } from 'node:crypto';
import type { PendingCommand } from '../../shared/rows/command.ts';
import { log } from '../../shared/runtime/log.ts';
import { isAgentEvent } from '../wire/agent-events.ts';
import type { AgentStream } from '../wire/agent-stream.ts';
import { type CvmIdentity, logFieldsOf } from '../wire/identity.ts';
import {
  type AgentEvent,
  type AgentLog,
  type AgentState,
  type AttestationToken,
  hasEnded,
  type RunResponse,
} from '../wire/messages.ts';
import { AgentProcess, type Attestation } from './agent-process.ts';
import { CvmStreams } from './cvm-streams.ts';
import { type GatewayParts, retryPause } from './gateway-parts.ts';
import { mostAttestations } from './hosted-run.ts';
import type { Peers } from './other-gateways.ts';
import { PendingMessages } from './pending-messages.ts';
import { isOfQuestion } from './run-logs.ts';
import { cannotStart, deliverRun, followRun, stopRun } from './serve-run.ts';

/** The session of a CVM at this gateway: passes commands to its agent, and the messages of its agent to the service. */
export class CvmSession {
  readonly identity: CvmIdentity;
  readonly streams: CvmStreams;
  readonly agentProcess: AgentProcess;
  private readonly parts: GatewayParts;
  private readonly pending: PendingMessages;
  private readonly isAttestedTooOften: (cvm: CvmIdentity) => boolean;
  private commands: PendingCommand[] = [];
  /** The times at which to try a command for the CVM again, by its identifier. Infinity if the command is answered. */
  private readonly retryAt = new Map<string, number>();
  /** The attestations of the agent that have yet to be recorded, oldest first. */
  private readonly attestations: Attestation[] = [];
  private working = false;
  private again = false;
  private failures = 0;
  private hasRefused = false;

  /**
   * Begins the session of a CVM at a gateway.
   * @param isAttestedTooOften counts an attestation, and returns whether it has to wait
   */
  constructor(identity: CvmIdentity, parts: GatewayParts, peers: Peers, isAttestedTooOften: (cvm: CvmIdentity) => boolean) {
    this.identity = identity;
    this.parts = parts;
    this.isAttestedTooOften = isAttestedTooOften;
    this.agentProcess = new AgentProcess(identity, parts, () => this.wakeWhenOver());
    this.pending = new PendingMessages(this.agentProcess, parts);
    this.streams = new CvmStreams(identity, parts, peers, {
      onConnect: () => {
        this.agentProcess.forget();
        this.wake();
      },
      onTakenBack: () => {
        this.agentProcess.reportAgain();
        this.lookNow();
      },
    });
  }

  get isIdle(): boolean {
    const isGone = this.streams.open.size === 0 && !this.streams.isNoted && !this.working;
    // Without a stream, nothing shows whether a busy process was replaced by a new one, so nothing waits for that.
    const isNoneBegun = this.attestations.length === 0 || this.agentProcess.isBusy;
    return isGone && isNoneBegun && this.isReported;
  }

  /**
   * True if the agent of the CVM is connected over the connection over which it attested itself, and its process may still work on
   * a run.
   */
  get isAttested(): boolean {
    return this.streams.isAttested && this.agentProcess.fit !== 'spent';
  }

  get isReported(): boolean {
    return this.pending.isEmpty && this.agentProcess.runs.every((run) => run.isReported);
  }

  /** True while a message or report of the CVM waits that must never be left out. */
  get holdsLasting(): boolean {
    return this.pending.holdsDeciding || this.agentProcess.runs.some((run) => run.holdsLasting);
  }

  takeAttestation({ file }: AttestationToken, kind: string, on: AgentStream): void {
    if (file.length > 0) on.attestedAt = this.parts.clock.now();
    const hash = createHash('sha256').update(file).digest('hex');
    if (on.attestations.has(hash)) return;
    if (on.attestations.size === mostAttestations) {
      this.parts.counts.eventsRefused++;
      return;
    }
    on.attestations.add(hash);
    this.attestations.push({ token: file, hash, kind, on });
    this.wake();
  }

  takeEvent(event: AgentEvent): void {
    if (isAgentEvent(event)) this.pending.take({ event });
    else this.refuse(event);
  }

  /** Counts an event that no agent sends. The log says it once for each session of a CVM. */
  private refuse({ event_type, status, originator }: AgentEvent): void {
    this.parts.counts.eventsRefused++;
    if (this.hasRefused) return;
    this.hasRefused = true;
    const said = [event_type, status, originator].map((text) => text.slice(0, 60));
    log('WARN', 'An event of a CVM was refused: no agent sends it.', { ...logFieldsOf(this.identity), said });
  }

  takeLog(line: AgentLog): void {
    if (!isOfQuestion(line)) this.pending.take({ line });
  }

  /**
   * Handles an agent's answer to a run request that came too late: nothing waits for the answer any more. Ignores an answer
   * without an error, because the agent's state says that it has the run.
   */
  takeLateAnswer({ computation_id, error }: RunResponse): void {
    const { run } = this.agentProcess;
    if (error === '' || run?.reference.computation_id !== computation_id || run.isOver || run.commandId === undefined) return;
    run.reject(run.commandId, cannotStart);
  }

  setPending(commands: PendingCommand[]): void {
    const isChanged = commands.length > 0 || this.commands.length > 0;
    this.commands = commands;
    const ids = new Set(commands.map(({ id }) => id));
    for (const id of this.retryAt.keys()) if (!ids.has(id)) this.retryAt.delete(id);
    if (isChanged) this.wake();
  }

  tick(): void {
    const isAwaited = this.attestations.length > 0 || this.agentProcess.run?.isUnconfirmed;
    if ((this.streams.agent || isAwaited) && this.isTimeToLook) this.wake();
    this.streams.tick();
  }

  private get isTimeToLook(): boolean {
    return this.parts.clock.now() >= this.agentProcess.nextLookAt;
  }

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
        this.agentProcess.nextLookAt = this.parts.clock.now() + retryPause(this.failures, this.parts.timings);
        log('WARN', 'A CVM cannot be served now.', logFieldsOf(this.identity), error);
      }
    }
    this.working = false; // in the same moment as the loop ends: no wake comes between
  }

  private async step(): Promise<void> {
    const { clock, timings } = this.parts;
    const { agentProcess, streams } = this;
    const [attestation] = this.attestations;
    if (attestation && (await agentProcess.takeAttestation(attestation, streams, this.isAttestedTooOften))) {
      this.attestations.shift();
      if (this.attestations.length > 0) this.again = true;
    }
    const { agent } = streams;
    const due = this.commands.filter(({ id }) => (this.retryAt.get(id) ?? 0) <= clock.now());
    if (!agent) return await this.confirmElsewhere();
    if (due.length === 0 && !attestation && !this.isTimeToLook && agentProcess.isLearned) return;
    if (!agentProcess.isLearned) await agentProcess.learn();
    const state = await agent.state();
    if (streams.agent !== agent) return;
    // Only the gateway that holds the CVM knows which stream is the present one. An agent that says nothing keeps no run alive.
    const isMoved = agentProcess.isOnOtherStream(agent) && (state !== undefined || !agentProcess.mayHaveRun(agent));
    if (isMoved && !((await streams.isHolder(agent)) && agentProcess.loseStream(agent))) {
      // The run ends with a report. Once it holds the CVM no more, its work on this stream is stopped.
      agentProcess.isLearned = false;
      agentProcess.nextLookAt = clock.now() + timings.command;
      return;
    }
    if (state === undefined) {
      agentProcess.nextLookAt = clock.now() + timings.answer;
      return;
    }
    agentProcess.state = state;
    streams.heard();
    const interval = agentProcess.isBusy ? timings.stateOfBusy : timings.stateOfIdle;
    agentProcess.nextLookAt = clock.now() + interval * (0.9 + Math.random() / 5);
    this.confirm(state);
    for (const command of due) {
      const obey = command.type === 'run' ? deliverRun : stopRun;
      const isAnswered = await obey(this, agent, state, command);
      this.retryAt.set(command.id, isAnswered ? Infinity : clock.now() + timings.command);
    }
    if (due.length === 0 || hasEnded(state)) followRun(this, agent, state);
    if (due.length > 0) agentProcess.lookIn(timings.command);
    const isGivenRun = due.some(({ type }) => type === 'run'); // the state was asked before that
    if (!isGivenRun) await agentProcess.reportFitness(state);
  }

  /** Notes that the stream of an agent has ended. A run that may go on over no other stream ends with it. */
  disconnect(agent: AgentStream): void {
    this.streams.disconnect(agent);
    if (this.agentProcess.isBusy && this.agentProcess.record?.bound_stream === agent.id) this.agentProcess.loseStream();
  }

  /** Compares the events that would end the run with a state of the agent, and looks again soon while one of them waits. */
  private confirm(state: AgentState | undefined): void {
    const { run, parts } = this.agentProcess;
    if (state !== undefined) run?.confirm(state);
    if (run?.isUnconfirmed) this.agentProcess.lookIn(parts.timings.command);
  }

  /** Asks the gateway that has the agent's stream for the state of the agent, if an event that came here counts only once that state is known. */
  private async confirmElsewhere(): Promise<void> {
    const { agentProcess } = this;
    if (!agentProcess.run?.isUnconfirmed || !this.isTimeToLook) return;
    agentProcess.nextLookAt = this.parts.clock.now() + this.parts.timings.command;
    await agentProcess.readRecord(); // the other gateway has given the run
    this.confirm(await this.streams.stateElsewhere((id) => agentProcess.mayHaveRun({ id })));
  }

  lookNow(): void {
    this.agentProcess.nextLookAt = 0;
    this.wake();
  }

  /**
   * Looks at the agent at once if its run is over. The agent may then no longer be able to take a run, and nobody may need its
   * work.
   */
  private wakeWhenOver(): void {
    if (this.agentProcess.run?.isOver && !this.agentProcess.saysSpent) this.lookNow();
  }
}
