import type { PendingCommand } from '../../shared/runs/pending-commands.ts';
import { type AgentState, isAtWork, isWithoutRun } from '../streams/agent-states.ts';
import type { AgentStream } from '../streams/agent-stream.ts';
import type { CvmSession } from './cvm-session.ts';
import type { HostedRun } from './hosted-run.ts';

const stopped = { event_type: 'Stopped', status: 'Stopped' };

/**
 * Obeys a stop. An agent's stop ends whatever is current, so one is sent only to an agent that has this very run.
 * @returns whether the command is answered; otherwise the caller retries
 */
export async function stopRun(
  session: CvmSession,
  agent: AgentStream,
  state: AgentState,
  command: PendingCommand,
): Promise<boolean> {
  const { agentProcess } = session;
  const { run_id, computation_id } = command;
  if (agentProcess.record?.run_id !== run_id) {
    if (!(await session.presence.isHolder(agent))) return false; // another gateway may have given the run to its agent
    const run = agentProcess.runOf(agentProcess.referenceTo(run_id, computation_id));
    run.inferEvent(stopped, { because: 'The agent does not have the run.' });
    return true;
  }
  const run = agentProcess.runOf(agentProcess.referenceTo(run_id, computation_id));
  run.status = 'stopping';
  if (isWithoutRun(state)) return inferStop(session, run);
  if (isAtWork(state)) sendStop(session, agent, run);
  return false;
}

/** Sends a stop to the agent of this run, unless one was sent a moment ago. */
export function sendStop(session: CvmSession, agent: AgentStream, run: HostedRun): void {
  const now = session.parts.clock.now();
  if (run.stopSentAt !== undefined && now - run.stopSentAt < session.parts.timings.stop) return;
  if (agent.send({ stopComputation: { computation_id: run.reference.computation_id } })) run.stopSentAt = now;
}

/** The agent has stopped. Its event may be on its way. @returns whether that is reported */
export function inferStop(session: CvmSession, run: HostedRun): boolean {
  const { timings, clock } = session.parts;
  run.idleSince ??= clock.now();
  const left = session.hasForwarder ? run.idleSince + timings.lateEventWithoutForwarder - clock.now() : 0;
  if (left > 0) {
    session.lookIn(left);
    return false;
  }
  run.inferEvent(stopped, { agent_state: 'ReceivingManifest' });
  return true;
}
