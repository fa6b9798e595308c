/** The states that an agent answers to AgentStateReq. */
export const agentStates = [
  'Idle',
  'ReceivingManifest',
  'ReceivingAlgorithm',
  'ReceivingData',
  'Running',
  'ConsumingResults',
  'Complete',
  'Failed',
] as const;
export type AgentState = (typeof agentStates)[number];

export function isAgentState(text: string): text is AgentState {
  return (agentStates as readonly string[]).includes(text);
}

/** The states in which an agent has no run. */
export function isWithoutRun(state: AgentState): boolean {
  return state === 'Idle' || state === 'ReceivingManifest';
}

/** The states in which a stop changes nothing any more: the agent has results, or none to come. */
export function hasEnded(state: AgentState): boolean {
  return !isWithoutRun(state) && !isAtWork(state);
}

/** The state in which results wait for the first user who fetches them. A restart of the agent would lose them. */
export function holdsResults(state: AgentState | undefined): boolean {
  return state === 'ConsumingResults';
}

/** The states in which an agent still works on its run, so that a stop ends something. */
export function isAtWork(state: AgentState): boolean {
  return state === 'ReceivingAlgorithm' || state === 'ReceivingData' || state === 'Running';
}
