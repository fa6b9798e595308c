/**
 * A time in a message. The messages below are as the gRPC loader gives them: with defaults for all fields, and with the name of
 * the field that is set.
 */

interface WireTimestamp {
  /** The seconds since the Unix epoch, a 64-bit number as a string. */
  seconds: string;
  nanos: number;
}

export interface AgentLog {
  message: string;
  computation_id: string;
  level: string;
  timestamp: WireTimestamp | null;
}

export interface AgentEvent {
  event_type: string;
  timestamp: WireTimestamp | null;
  computation_id: string;
  details: Uint8Array;
  originator: string;
  status: string;
}

export interface RunResponse {
  computation_id: string;
  /** The reason why the agent did not take the run. Empty if it took the run. */
  error: string;
}

export interface AttestationToken {
  /** The token. Empty if the CVM has no attestation. */
  file: Uint8Array;
  certSerialNumber: string;
}

export interface ClientMessage {
  /** The name of the field that is set. Undefined for a message of a newer agent. */
  message?: string;
  agent_log?: AgentLog;
  agent_event?: AgentEvent;
  run_res?: RunResponse;
  /** The answer to a stop. An empty `message` says that the computation was stopped. */
  stopComputationRes?: { computation_id: string; message: string };
  agentStateRes?: { id: string; state: string };
  vTPMattestationReport?: AttestationToken;
  azureAttestationToken?: AttestationToken;
}

/** A message to an agent, with exactly one field. An agent leaves its stream when it gets none. */
export type ServerMessage =
  | { runReqChunks: { data: Uint8Array; id: string; is_last: boolean } }
  | { stopComputation: { computation_id: string } }
  | { agentStateReq: { id: string } }
  | { disconnectReq: { id: string } };

/** The overhead of an object in a message, in bytes, roughly. */
const frame = 50;

/** Returns about how many bytes a message takes. */
export function sizeOf(message: object): number {
  let size = frame;
  for (const value of Object.values(message) as unknown[]) {
    if (typeof value === 'string' || value instanceof Uint8Array) size += value.length;
    else if (typeof value === 'object' && value !== null) size += sizeOf(value);
  }
  return size;
}

/** Returns the time of a message in RFC 3339, UTC, milliseconds. Undefined if it is missing or no date. */
export function timeOf(timestamp: WireTimestamp | null): string | undefined {
  if (!timestamp) return undefined;
  const date = new Date(Number(timestamp.seconds) * 1000 + Math.floor(timestamp.nanos / 1e6));
  const year = date.getUTCFullYear();
  return year >= 1970 && year <= 9999 ? date.toISOString() : undefined;
}

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
