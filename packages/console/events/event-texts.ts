import type { StatusIndicatorProps } from '@cloudscape-design/components';
import { administrativeEvents, lifecycleEvents } from 'computation-management-formats/vocabulary';
import { type DetailField, detailFields } from 'computation-management-words';
import { momentText } from '../show/texts.ts';

/** The names of events of the service whose type does not say enough. */
const words = new Map([
  ['started', 'Run started'],
  ['updated', 'Changed'],
  ['key_released', 'Key of a file released'],
  ['key_refused', 'Key of a file refused'],
  ['result_submitted', 'Result handed in'],
  ['result_decided', 'Decision on the result'],
]);

/** The types of events that the agent of a real CVM records (Cocos 0.10.2). Other agents have other types. */
const agentTypes = [
  'ReceivingAlgorithm',
  'ReceivingData',
  'Running',
  'AlgorithmRun',
  'ConsumingResults',
  'Complete',
  'Failed',
  'Stopped',
];

/**
 * Returns the types of events that a filter offers: the types of the service, the types of agents, and `seen`, those of the events read so
 * far.
 */
export function eventTypes(seen: readonly string[]): string[] {
  return [...new Set([...lifecycleEvents, ...administrativeEvents, ...agentTypes, ...seen])].filter((type) => type !== '');
}

/** Returns the name of an event in words. Types such as `asset_linked`, and `ReceivingAlgorithm` of an agent, are split into words. */
export function eventText(type: string): string {
  const known = words.get(type);
  if (known !== undefined) return known;
  const split = type.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
  return split.charAt(0).toUpperCase() + split.slice(1).toLowerCase();
}

/**
 * Returns the status of an event in parentheses if the type of the event does not tell the status, such as `(Starting)` of `Running`.
 * Otherwise an empty text.
 */
export function eventStatusText({ status }: { status: string }): string {
  return status === '' || ['success', 'failure'].includes(status) ? '' : `(${status})`;
}

/** Returns the icon that marks an event, by its type and status. Agents report statuses of their own. */
export function eventMark(event: { event_type: string; status: string }): StatusIndicatorProps.Type {
  const status = event.status.toLowerCase();
  if (event.event_type === 'cancelled') return 'stopped';
  if (['success', 'completed', 'ready'].includes(status)) return 'success';
  if (['failure', 'failed', 'error'].includes(status)) return 'error';
  if (['inprogress', 'in-progress', 'in_progress', 'running', 'starting'].includes(status)) return 'in-progress';
  if (status === 'warning') return 'warning';
  if (['terminated', 'stopped'].includes(status)) return 'stopped';
  return 'info';
}

/** Returns the fields in the details of an event, with times in the zone of the browser. @param without the name of a field to leave out */
export function detailsOf(base64: string, without = ''): DetailField[] {
  return detailFields(base64, [without]).map(({ name, value }) => ({
    name,
    value: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? momentText(value) : value,
  }));
}
