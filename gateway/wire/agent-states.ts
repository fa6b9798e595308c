const agentStates = [
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

export function isWithoutRun(state: AgentState): boolean {
  return state === 'Idle' || state === 'ReceivingManifest';
}

/** A stop changes nothing any more. */
export function hasEnded(state: AgentState): boolean {
  return !isWithoutRun(state) && !isAtWork(state);
}

/** Results wait for the first user who fetches them. A restart of the agent would lose them. */
export function holdsResults(state: AgentState | undefined): boolean {
  return state === 'ConsumingResults';
}

/** A stop ends something. */
export function isAtWork(state: AgentState): boolean {
  return state === 'ReceivingAlgorithm' || state === 'ReceivingData' || state === 'Running';
}
