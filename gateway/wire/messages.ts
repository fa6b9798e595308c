/**
 * A time in a message of an agent, as the gRPC loader gives it. The loader gives defaults for all fields of a message, and the
 * name of the field that is set.
 */

interface WireTimestamp {
  /** The seconds since the Unix epoch of a time in a message, a 64-bit number as a string. */
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

/** The members that tell the kinds of events of agents apart. */
export type EventKind = Pick<AgentEvent, 'event_type' | 'status'>;

export interface RunResponse {
  computation_id: string;
  /** The reason why the agent did not take the run that it was sent. Empty if it took the run. */
  error: string;
}

export interface AttestationToken {
  /** The attestation token that the agent sent. Empty if the CVM has no attestation. */
  file: Uint8Array;
  certSerialNumber: string;
}

export interface ClientMessage {
  /** The name of the field that is set in a message of an agent. Undefined for a message that only a newer agent sends. */
  message?: string;
  agent_log?: AgentLog;
  agent_event?: AgentEvent;
  run_res?: RunResponse;
  /** The agent's answer to a stop. An empty `message` says that the computation was stopped. */
  stopComputationRes?: { computation_id: string; message: string };
  agentStateRes?: { id: string; state: string };
  vTPMattestationReport?: AttestationToken;
  azureAttestationToken?: AttestationToken;
}

/**
 * A message of the gateway to an agent, with exactly one field. An agent leaves its stream when it gets a message without a
 * field.
 */
export type ServerMessage =
  | { runReqChunks: { data: Uint8Array; id: string; is_last: boolean } }
  | { stopComputation: { computation_id: string } }
  | { agentStateReq: { id: string } };

/** The rough overhead, in bytes, of each object in a message of an agent. */
const frame = 50;

/** Returns roughly how many bytes a message of an agent takes. */
export function sizeOf(message: object): number {
  let size = frame;
  for (const value of Object.values(message) as unknown[]) {
    if (typeof value === 'string' || value instanceof Uint8Array) size += value.length;
    else if (typeof value === 'object' && value !== null) size += sizeOf(value);
  }
  return size;
}

/** Returns the time of a message of an agent as RFC 3339, UTC, milliseconds. Undefined if it is missing or no date. */
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

export const isAgentState = (text: string): text is AgentState => (agentStates as readonly string[]).includes(text);

export const isWithoutRun = (state: AgentState): boolean => state === 'Idle' || state === 'ReceivingManifest';

/** Tells whether a state of an agent says that its run has ended, so that a stop changes nothing any more. */
export const hasEnded = (state: AgentState): boolean => !isWithoutRun(state) && !isAtWork(state);

/** Tells whether a state of an agent says that its run is at work, so that a stop ends something. */
export const isAtWork = (state: AgentState): boolean => ['ReceivingAlgorithm', 'ReceivingData', 'Running'].includes(state);
