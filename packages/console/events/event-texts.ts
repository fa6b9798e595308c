import type { StatusIndicatorProps } from '@cloudscape-design/components';
import { momentText } from '../show/texts.ts';

/** What the service's own events are called. */
const words = new Map(
  Object.entries({
    created: 'Created',
    started: 'Run started',
    stop_requested: 'Stop requested',
    completed: 'Completed',
    failed: 'Failed',
    cancelled: 'Cancelled',
    updated: 'Changed',
    owner_changed: 'Owner changed',
    asset_linked: 'Asset linked',
    asset_unlinked: 'Asset unlinked',
    key_uploaded: 'Key uploaded',
    key_removed: 'Key removed',
    approved: 'Approved',
    approval_withdrawn: 'Approval withdrawn',
  }),
);

/** The types of the agent of a real CVM (Cocos 0.10.2). Other agents have others. */
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

/** Returns the types of events to choose from: those of the service, of agents, and `seen`. */
export function eventTypes(seen: readonly string[]): string[] {
  return [...new Set([...words.keys(), ...agentTypes, ...seen])].filter((type) => type !== '');
}

/** Returns what an event is called. The agent's own types, such as `ReceivingAlgorithm`, are split into words. */
export function eventText(type: string): string {
  const known = words.get(type);
  if (known !== undefined) return known;
  const split = type.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
  return split.charAt(0).toUpperCase() + split.slice(1).toLowerCase();
}

/** Returns the status of an event if its type does not tell it, such as `(Starting)` of `Running`. Else an empty text. */
export function eventStatusText({ status }: { status: string }): string {
  return status === '' || ['success', 'failure'].includes(status) ? '' : `(${status})`;
}

/** Returns the mark of an event for its status. Agents report statuses of their own. */
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

/** Returns the fields in the details of an event but `without`, in words. Details that are no object are a field without a name. */
export function detailsOf(base64: string, without = ''): { name: string; value: string }[] {
  const text = decoded(base64);
  const whole = text === '' ? [] : [{ name: '', value: text }];
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return whole;
    return Object.entries(parsed)
      .filter(([name]) => name !== without)
      .map(([name, value]) => ({ name: `${name.replaceAll('_', ' ')}: `, value: valueText(value) }));
  } catch {
    return whole;
  }
}

export function detailsText(base64: string): string {
  return detailsOf(base64)
    .map(({ name, value }) => `${name}${value}`)
    .join(', ');
}

/** A sentence gives up its full stop within a list. Times are in the zone of all others. */
function valueText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? momentText(value) : value.replace(/\.$/, '');
}

/** Bytes that are no UTF-8 stay as they came: an agent may send any. */
function decoded(base64: string): string {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return base64;
  }
}
