import type { AgentState } from '../streams/agent-states.ts';

type EventOfState = { event_type: string; status: string };

const events: Record<AgentState, EventOfState | undefined> = {
  Idle: undefined,
  ReceivingManifest: undefined,
  ReceivingAlgorithm: { event_type: 'ReceivingAlgorithm', status: 'InProgress' },
  ReceivingData: { event_type: 'ReceivingData', status: 'InProgress' },
  Running: { event_type: 'Running', status: 'InProgress' },
  ConsumingResults: { event_type: 'ConsumingResults', status: 'Ready' },
  Complete: { event_type: 'Complete', status: 'Completed' },
  Failed: { event_type: 'Failed', status: 'Failed' },
};

/** Returns the event that an agent sends when it enters a state. Undefined where it sends none. */
export function eventOfState(state: AgentState): EventOfState | undefined {
  return events[state];
}

/** The details of an event that the agent did not send, or whose message was lost. They say so, and what it was inferred from. */
export function inferredDetails(from: Record<string, string>): string {
  return Buffer.from(JSON.stringify({ inferred: true, ...from })).toString('base64');
}
