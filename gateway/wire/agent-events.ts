import { createHash } from 'node:crypto';
import { reporters } from 'computation-management-formats/vocabulary';
import { endingEvents } from '../../shared/rows/run.ts';
import { stateEventIdPrefix } from '../../shared/cvms/index.ts';
import type { AgentState, AgentEvent, EventKind } from './messages.ts';

/**
 * Returns the identifier of an event that occurs once in a run. The event that an agent sends and the one that a gateway infers
 * from the agent's state have the same identifier, so the service records one of them.
 */
export const stateEventId = (eventType: string, status: string): string => `${stateEventIdPrefix}${eventType}/${status}`;

/** The event that an agent sends for each piece that its algorithm writes to stderr, as type and status. */
const warning = 'AlgorithmRun/Warning';

/** The events that agents send, as type and status, by the source of Cocos. The gateway takes no other event. */
const agentEvents = [
  'ReceivingAlgorithm/InProgress',
  'ReceivingData/InProgress',
  'Running/Starting',
  'Running/InProgress',
  warning,
  'Running/Completed',
  'Running/Failed',
  ...endingEvents,
] as const;

/** Tells whether an event is of the closed list of those that agents send, from a program that sends them. */
export function isAgentEvent({ event_type, status, originator }: AgentEvent): boolean {
  const isOf = (list: readonly string[], text: string) => list.includes(text);
  return isOf(agentEvents, `${event_type}/${status}`) && isOf(reporters, originator);
}

/** Tells whether an event that agents send occurs once in a run. Such an event is never left out. */
export const occursOnceInARun = ({ event_type, status }: EventKind): boolean => `${event_type}/${status}` !== warning;

export const beginsRun = ({ event_type, status }: EventKind): boolean =>
  event_type === 'ReceivingAlgorithm' && status === 'InProgress';

/** Returns the identifier of an agent's event. An event that the agent sends twice has the same identifier. */
export function eventId(event: AgentEvent): string {
  const { event_type, status, originator, timestamp } = event;
  if (occursOnceInARun(event)) return stateEventId(event_type, status);
  const parts = [event_type, status, originator, timestamp?.seconds ?? '', timestamp?.nanos ?? 0];
  return `event:${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}`;
}

/** The states of an agent that agree with each event that ends its run. */
const statesAfter = {
  'ConsumingResults/Ready': ['ConsumingResults', 'Complete'],
  'Complete/Completed': ['Complete'],
  'Failed/Failed': ['Failed'],
  'Stopped/Stopped': ['Idle', 'ReceivingManifest'],
} satisfies Record<(typeof endingEvents)[number], AgentState[]>;

/**
 * Returns the states of an agent that agree with an event that ends its run. Undefined for other events. An algorithm may write
 * any event to the socket of the log-forwarder, but not answer for the agent.
 */
export const statesAfterEnd = ({ event_type, status }: AgentEvent): readonly string[] | undefined =>
  new Map<string, readonly string[]>(Object.entries(statesAfter)).get(`${event_type}/${status}`);

/** The event that an agent sends when it enters a state. Undefined if it sends none for the state. */
export const eventOfState: Record<AgentState, EventKind | undefined> = {
  Idle: undefined,
  ReceivingManifest: undefined,
  ReceivingAlgorithm: { event_type: 'ReceivingAlgorithm', status: 'InProgress' },
  ReceivingData: { event_type: 'ReceivingData', status: 'InProgress' },
  Running: { event_type: 'Running', status: 'InProgress' },
  ConsumingResults: { event_type: 'ConsumingResults', status: 'Ready' },
  Complete: { event_type: 'Complete', status: 'Completed' },
  Failed: { event_type: 'Failed', status: 'Failed' },
};

/**
 * Returns the details, in base64, of an event that the gateway inferred because the agent did not send it.
 * @param from what the event was inferred from
 */
export const inferredDetails = (from: Record<string, string>): string =>
  Buffer.from(JSON.stringify({ inferred: true, ...from })).toString('base64');
