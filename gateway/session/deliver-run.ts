import { randomUUID } from 'node:crypto';
import type { PendingCommand } from '../../shared/runs/pending-commands.ts';
import { type AgentState, isWithoutRun } from '../streams/agent-states.ts';
import type { AgentStream } from '../streams/agent-stream.ts';
import { encodeRunRequest } from '../wire/run-request.ts';
import type { CvmSession } from './cvm-session.ts';

/** An agent process dies of a manifest that it cannot read, and is restarted, so attempts are counted. */
const mostAttempts = 3;

/**
 * Gives a run to the agent, if its process has none. Records that first, so that a gateway that takes over knows it.
 * @returns whether the command is answered; otherwise the caller retries
 */
export async function deliverRun(
  session: CvmSession,
  agent: AgentStream,
  state: AgentState,
  command: PendingCommand,
): Promise<boolean> {
  const { record = {} } = session.agentProcess;
  const { timings, clock } = session.parts;
  const { run_id, computation_id } = command;
  const age = clock.now() - agent.openedAt;
  if (record.run_id === run_id && !isWithoutRun(state)) {
    // A gateway that sent the run may have died before it kept the attestation.
    await session.parts.service.keepAttestationOfRun(session.identity, {
      run_id,
      computation_id,
      attestation_hash: record.attestation_hash,
    });
    return accept(session, command);
  }
  if (record.run_id !== undefined && record.run_id !== run_id) {
    if (age < timings.spent) return false; // a new process may be about to say that it is new
    return refuse(session, agent, command, 'The agent has worked on another run. Restart the agent and its computation-runner.');
  }
  if (record.run_id === undefined && !isWithoutRun(state)) {
    return refuse(session, agent, command, `The agent is working on a run that this service did not start (state ${state}).`);
  }
  if (age < timings.attestation && agent.attestations === 0) return false;
  const attempts = record.attempted_run_id === run_id ? (record.attempts ?? 0) : 0;
  if (attempts >= mostAttempts)
    return refuse(session, agent, command, `The agent did not take the run in ${mostAttempts} attempts.`);

  const { commands } = await session.parts.service.work(session.identity);
  const full = commands.find(({ id }) => id === command.id);
  if (!full) return true; // withdrawn
  let data: Uint8Array;
  try {
    data = encodeRunRequest(full);
  } catch (error) {
    return reject(session, command, `The manifest cannot be sent: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!session.presence.isSafe() || !agent.takesMessages) return false;
  const bound = { ...record, run_id, computation_id, attempted_run_id: run_id, attempts: attempts + 1 };
  const binding = { ...bound, stream: agent.id, certificate: agent.fingerprint };
  if (!(await session.parts.service.bindAgent(session.identity, binding))) {
    session.presence.checkSoon();
    await session.agentProcess.readRecord();
    return false;
  }
  if (!session.presence.isSafe()) {
    // This process stood still meanwhile: another gateway may have taken over. Nothing was sent, so this is no attempt.
    session.agentProcess.setRecord({ ...bound, attempts });
    return false;
  }
  session.agentProcess.setRecord(bound);
  session.agentProcess.boundOn = agent;
  if (session.agentProcess.run) session.agentProcess.run.commandId = command.id; // for an answer that comes late
  const kept = session.parts.service.keepAttestationOfRun(session.identity, bound);
  kept.catch(() => undefined); // awaited below
  const response = await agent.run({ data, id: randomUUID() });
  if (response?.error) return reject(session, command, cannotStart(response.error)); // whether or not the table answers
  await kept;
  const stateNow = response ? state : await agent.state();
  return response || (stateNow && !isWithoutRun(stateNow)) ? accept(session, command) : false;
}

export function cannotStart(error: string): string {
  return `The agent cannot start the run: ${error}`;
}

/** Rejects a run because of the agent's process, unless another gateway has the CVM by now. */
async function refuse(session: CvmSession, agent: AgentStream, command: PendingCommand, reason: string): Promise<boolean> {
  return (await session.presence.isHolder(agent)) && reject(session, command, reason);
}

function accept({ agentProcess }: CvmSession, { id, run_id, computation_id }: PendingCommand): true {
  const run = agentProcess.runOf(agentProcess.referenceTo(run_id, computation_id));
  run.accept(id, agentProcess.record?.attestation_hash);
  return true;
}

function reject({ agentProcess }: CvmSession, { id, run_id, computation_id }: PendingCommand, reason: string): true {
  agentProcess.runOf(agentProcess.referenceTo(run_id, computation_id)).reject(id, reason);
  return true;
}
