import { randomUUID } from 'node:crypto';
import type { PendingCommand } from '../../shared/rows/command.ts';
import { type AgentState, isAtWork, isWithoutRun } from '../wire/messages.ts';
import type { AgentStream } from '../wire/agent-stream.ts';
import { encodeRunRequest } from '../wire/protocol.ts';
import { type AgentProcess, restarted } from './agent-process.ts';
import type { CvmStreams } from './cvm-streams.ts';
import type { HostedRun } from './hosted-run.ts';

interface ServedCvm {
  agentProcess: AgentProcess;
  streams: CvmStreams;
}

/**
 * The largest number of attempts to give a run to an agent. An agent process dies of a manifest that it cannot read, and is
 * restarted.
 */
const mostAttempts = 3;

const otherProcess = 'The agent is not the process that was attested when the run started.';
const otherConnection =
  'The agent has not attested itself over its present connection, and the attestation policy allows no other. Restart the agent.';

/**
 * Gives a run to the agent of a CVM if its process has none. First records that the process gets the run, for a gateway that
 * takes over.
 * @returns whether the command to run is answered
 */
export async function deliverRun(
  { agentProcess, streams }: ServedCvm,
  agent: AgentStream,
  state: AgentState,
  command: PendingCommand,
): Promise<boolean> {
  const { record = {}, identity, parts } = agentProcess;
  const { service, timings, clock } = parts;
  const { run_id, computation_id } = command;
  // Rejects a run because of the agent's process, unless another gateway has the CVM by now.
  const refuse = async (reason: string) => (await streams.isHolder(agent)) && reject(agentProcess, command, reason);
  const age = clock.now() - agent.openedAt;
  if (record.run_id === run_id && !isWithoutRun(state)) {
    // A gateway that sent the run may have died before it kept the attestation.
    await keepProcess(agentProcess, command);
    return accept(agentProcess, command);
  }
  if (record.run_id !== undefined && record.run_id !== run_id) {
    if (age < timings.spent) return false; // a new process may be about to say that it is new
    return await refuse('The agent has worked on another run. Restart the agent and its computation-runner.');
  }
  if (record.run_id === undefined && !isWithoutRun(state)) {
    return await refuse(`The agent is working on a run that this service did not start (state ${state}).`);
  }
  const attempts = record.attempted_run_id === run_id ? (record.attempts ?? 0) : 0;
  if (attempts >= mostAttempts) return await refuse(`The agent did not take the run in ${mostAttempts} attempts.`);

  const { commands } = await service.work(identity);
  const full = commands.find(({ id }) => id === command.id);
  if (!full) return true; // withdrawn
  const { token_hash, process, allow_reconnect, allow_used_guest } = full;
  if (token_hash === undefined && age < timings.attestation && agent.attestations.size === 0) return false;
  let data: Uint8Array;
  try {
    data = encodeRunRequest(full);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return reject(agentProcess, command, `The manifest cannot be sent: ${why}`);
  }
  if (!streams.isSafe() || !agent.takesMessages) return false;
  if (token_hash !== undefined) {
    const registration = await service.registration(identity);
    if (registration?.token !== token_hash || registration.process !== process) return await refuse(otherProcess);
    if (!allow_reconnect && registration.attestedStream !== agent.id) return await refuse(otherConnection);
  }
  const policy = token_hash === undefined ? {} : { token_hash, process, allow_reconnect, allow_used_guest };
  const given = { ...record, run_id, computation_id, attempted_run_id: run_id, attempts: attempts + 1 };
  const bound = await service.bindAgent(identity, { ...given, ...policy, stream: agent.id, certificate: agent.fingerprint });
  if (!bound) {
    streams.checkSoon();
    await agentProcess.readRecord();
    return false;
  }
  if (!streams.isSafe()) {
    // This process stood still meanwhile: another gateway may have taken over. Nothing was sent, so this is no attempt.
    agentProcess.setRecord({ ...bound, attempts });
    return false;
  }
  agentProcess.setRecord(bound);
  agentProcess.boundOn = agent;
  if (agentProcess.run) agentProcess.run.commandId = command.id; // for an answer that comes late
  const kept = keepProcess(agentProcess, command);
  kept.catch(() => undefined); // awaited below
  const response = await agent.run({ data, id: randomUUID() });
  if (response?.error) return reject(agentProcess, command, cannotStart); // whether or not the table answers
  await kept;
  const stateNow = response ? state : await agent.state();
  return response || (stateNow && !isWithoutRun(stateNow)) ? accept(agentProcess, command) : false;
}

async function keepProcess({ record, identity, parts }: AgentProcess, { run_id, computation_id }: PendingCommand): Promise<void> {
  if (record?.process === undefined) return;
  await parts.service.keepProcessOfRun({ ...identity, process: record.process, run_id, computation_id });
}

/** The reason of a run that the agent took, and could not start. The agent's own text is in its log. */
export const cannotStart = 'The agent cannot start the run.';

function accept(agentProcess: AgentProcess, { id, run_id, computation_id }: PendingCommand): true {
  const run = agentProcess.runOf(agentProcess.referenceTo(run_id, computation_id));
  const { attestation_hash, attested_stream, bound_stream } = agentProcess.record ?? {};
  run.accept(id, attestation_hash);
  if (bound_stream !== undefined && bound_stream !== attested_stream) run.noteReconnect(bound_stream);
  return true;
}

function reject(agentProcess: AgentProcess, { id, run_id, computation_id }: PendingCommand, reason: string): true {
  agentProcess.runOf(agentProcess.referenceTo(run_id, computation_id)).reject(id, reason);
  return true;
}

const stopped = { event_type: 'Stopped', status: 'Stopped' };

/**
 * Stops a run on the agent of a CVM. An agent stops whichever run is current, so the gateway sends a stop only to an agent that
 * has the given run.
 * @returns whether the command to stop is answered
 */
export async function stopRun(
  cvm: ServedCvm,
  agent: AgentStream,
  state: AgentState,
  { run_id, computation_id }: PendingCommand,
): Promise<boolean> {
  const { agentProcess, streams } = cvm;
  if (agentProcess.record?.run_id !== run_id) {
    if (!(await streams.isHolder(agent))) return false; // another gateway may have given the run to its agent
    const run = agentProcess.runOf(agentProcess.referenceTo(run_id, computation_id));
    run.inferEvent(stopped, { because: 'The agent does not have the run.' });
    return true;
  }
  const run = agentProcess.runOf(agentProcess.referenceTo(run_id, computation_id));
  run.status = 'stopping';
  if (isWithoutRun(state)) return inferStop(cvm, run);
  noteTaken(agentProcess, run);
  if (isAtWork(state)) sendStop(cvm, agent, run);
  return false;
}

/** Reports that the agent took a run, which its state shows, if a gateway sent the run and died before it could report that. */
function noteTaken({ record }: AgentProcess, run: HostedRun): void {
  if (!run.isAccepted && run.commandId !== undefined) run.accept(run.commandId, record?.attestation_hash);
}

function sendStop({ agentProcess: { parts } }: ServedCvm, agent: AgentStream, run: HostedRun): void {
  const now = parts.clock.now();
  if (run.stopSentAt !== undefined && now - run.stopSentAt < parts.timings.stop) return;
  if (agent.send({ stopComputation: { computation_id: run.reference.computation_id } })) run.stopSentAt = now;
}

/**
 * Reports that a run was stopped, once the agent has no run and its event has had time to arrive.
 * @returns whether the stop is reported
 */
function inferStop({ agentProcess, streams }: ServedCvm, run: HostedRun): boolean {
  const { timings, clock } = agentProcess.parts;
  run.idleSince ??= clock.now();
  const left = streams.hasForwarder ? run.idleSince + timings.lateEventWithoutForwarder - clock.now() : 0;
  if (left > 0) {
    agentProcess.lookIn(left);
    return false;
  }
  run.inferEvent(stopped, { agent_state: 'ReceivingManifest' });
  return true;
}

/**
 * Compares the state of an agent with the run that it has: reports what the agent did not say, and stops work that nobody needs.
 */
export function followRun(cvm: ServedCvm, agent: AgentStream, state: AgentState): void {
  const { agentProcess, streams } = cvm;
  const { run, parts } = agentProcess;
  if (!run) return;
  if (run.isOver && run.status !== 'completed' && isAtWork(state)) {
    sendStop(cvm, agent, run); // nobody needs its work any more
    return;
  }
  if (isWithoutRun(state)) {
    if (run.isOver || !run.isAccepted || run.hasStopped) return;
    if (run.status === 'stopping' || run.stopSentAt !== undefined) inferStop(cvm, run);
    else run.inferEvent({ event_type: 'Failed', status: 'Failed' }, { agent_state: state }, restarted);
    return;
  }
  noteTaken(agentProcess, run);
  void run.endIfStuck(state);
  const { lateEvent, lateEventWithoutForwarder } = parts.timings;
  const left = run.observe(state, streams.hasForwarder ? lateEvent : lateEventWithoutForwarder);
  if (left !== undefined) agentProcess.lookIn(left);
}
