import { type AgentState, isWithoutRun } from '../streams/agent-states.ts';
import type { CvmSession } from './cvm-session.ts';

/** Tells the service what the agent is fit for when that changes, and that the agent still works on its run. */
export class FitnessReport {
  private readonly session: CvmSession;
  private lastReported = '';

  constructor(session: CvmSession) {
    this.session = session;
  }

  /** Whether the service knows that the agent takes no run any more. */
  get saysSpent(): boolean {
    return this.lastReported.endsWith('spent');
  }

  /** Tells the service the next time, whether or not something has changed. */
  repeat(): void {
    this.lastReported = '';
  }

  async send(state: AgentState): Promise<void> {
    const { identity, parts, agentProcess } = this.session;
    const { run, fit, isBusy } = agentProcess;
    const current = `${state} ${fit}`;
    const isHeartbeat = isBusy && run?.isAccepted && !isWithoutRun(state);
    if (!isHeartbeat && current === this.lastReported) return;
    const results = await parts.service.report(identity, [
      { type: 'heartbeat', agent_state: state, fit, ...(isHeartbeat ? { run_id: run.reference.run_id } : {}) },
    ]);
    this.lastReported = current;
    if (isHeartbeat) run.learn(results);
    if (isHeartbeat && run.isOver) this.session.wakeWhenOver();
  }
}
