import { createHash } from 'node:crypto';
import { endingEvents } from '../../shared/runs/outcome-of-report.ts';
import { stateEventIdPrefix } from '../../shared/runs/report.ts';
import type { AgentEvent } from '../wire/messages.ts';

/**
 * The identifier of the report on an event that occurs once in a run. It is the same for the agent's event and for the event
 * that a gateway infers from the agent's state, on any gateway, so the service records one of them.
 */
export function stateEventId(eventType: string, status: string): string {
  return `${stateEventIdPrefix}${eventType}/${status}`;
}

const occursOnce = new Set<string>([
  'ReceivingAlgorithm/InProgress',
  'ReceivingData/InProgress',
  'Running/Starting',
  'Running/InProgress',
  'Running/Completed',
  'Running/Failed',
  ...endingEvents,
]);

/** Returns whether an event occurs once in a run. Of these, none is ever left out. */
export function occursOnceInARun({ event_type, status }: Pick<AgentEvent, 'event_type' | 'status'>): boolean {
  return occursOnce.has(`${event_type}/${status}`);
}

/** Whether an event is the first one of a run. */
export function beginsRun({ event_type, status }: Pick<AgentEvent, 'event_type' | 'status'>): boolean {
  return event_type === 'ReceivingAlgorithm' && status === 'InProgress';
}

/** The identifier of the report on an agent's event. An event that the agent sends twice has the same both times. */
export function eventId(event: AgentEvent): string {
  const { event_type, status, originator, timestamp } = event;
  if (occursOnceInARun(event)) return stateEventId(event_type, status);
  const parts = [event_type, status, originator, timestamp?.seconds ?? '', timestamp?.nanos ?? 0];
  return `event:${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}`;
}
