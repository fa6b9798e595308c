import { styleText } from 'node:util';
import type { Schemas } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { detailsOf } from './event-details.ts';
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
