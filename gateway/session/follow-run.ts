import { type AgentState, isAtWork, isWithoutRun } from '../streams/agent-states.ts';
import type { AgentStream } from '../streams/agent-stream.ts';
import type { CvmSession } from './cvm-session.ts';
import { inferStop, sendStop } from './stop-run.ts';

/** Compares the state of an agent with what is known of its run, and reports what differs. */
export function followRun(session: CvmSession, agent: AgentStream, state: AgentState): void {
  const { run, record } = session.agentProcess;
  const { timings } = session.parts;
  if (!run) return;
  if (run.isOver && run.status !== 'completed' && isAtWork(state)) {
    sendStop(session, agent, run); // nobody needs its work any more
    return;
  }
  if (isWithoutRun(state)) {
    if (run.isOver || !run.isAccepted) return;
    if (run.status === 'stopping' || run.stopSentAt !== undefined) inferStop(session, run);
    else {
      const reason = 'The agent restarted while the run was active.';
      run.inferEvent({ event_type: 'Failed', status: 'Failed' }, { agent_state: state }, reason);
    }
    return;
  }
  if (!run.isAccepted && run.commandId !== undefined) {
    // A gateway sent the run, and died before it could report that the agent took it.
    run.accept(run.commandId, record?.attestation_hash);
  }
  const left = run.observe(state, session.hasForwarder ? timings.lateEvent : timings.lateEventWithoutForwarder);
  if (left !== undefined) session.lookIn(left);
}
