import { styleText } from 'node:util';
import type { Schemas } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { textWidth } from './text.ts';

type Event = Schemas['Event'];

/** Formats an event as a line of a timeline, with the seconds since `startedAt`. */
export function eventLine(event: Event, startedAt: number, { colours }: { colours: boolean }): string {
  const { originator, event_type, status, timestamp } = event;
  const at = `+${((Date.parse(timestamp) - startedAt) / 1_000).toFixed(1)} s`.padStart(10);
  const mark = markOf(event);
  const line = `${at}  ${padded(originator, 18)}  ${padded(event_type, 18)}  ${printable(status)}`.trimEnd();
  const { reason } = detailsOf(event);
  const shown = `${mark}${line}${reason === undefined ? '' : `  ${printable(reason)}`}`;
  const colour = colourOf(event);
  return colours && colour !== undefined ? styleText(colour, shown, { validateStream: false }) : shown;
}

const padded = (text: string, width: number) => {
  const shown = printable(text);
  return shown + ' '.repeat(Math.max(0, width - textWidth(shown)));
};

function markOf({ event_type, originator }: Event): string {
  if (originator !== 'system') return ' ';
  return event_type === 'completed' ? '✓' : event_type === 'failed' ? '✗' : ' ';
}

function colourOf({ event_type, originator, status }: Event) {
  if (originator === 'system') return event_type === 'completed' ? 'green' : event_type === 'failed' ? 'red' : 'yellow';
  return /^(Failed|Warning|failure)$/.test(status) ? 'red' : undefined;
}

/** Reads the details of an event, as far as they are JSON. */
export function detailsOf({ details }: Pick<Event, 'details'>): Record<string, unknown> & { reason?: string } {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(details, 'base64').toString());
    if (typeof parsed !== 'object' || parsed === null) return {};
    const { reason, ...others } = parsed as Record<string, unknown>;
    return typeof reason === 'string' && reason !== '' ? { ...others, reason } : others;
  } catch {
    return {};
  }
}
