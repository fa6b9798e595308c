import { sizeText as textOf } from 'computation-management-client';
import { agoText as exactAgoText } from 'computation-management-words';

const format = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

/** Returns a point in time by the user's clock, with its zone. Returns the text itself if Date cannot parse it. */
export function momentText(timestamp: string): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? timestamp : format.format(date);
}

/** Returns how far a point in time is from now, such as `5 minutes ago`. Less than a minute is `just now`: pages count by ten seconds. */
export function agoText(timestamp: string, now: number): string {
  return Math.abs(Date.parse(timestamp) - now) < 60_000 ? 'just now' : exactAgoText(timestamp, now);
}

/** Returns a length of time in its two largest units, such as `3 min 20 s`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60];
  const parts = [`${days} d`, `${hours} h`, `${minutes} min`, `${seconds % 60} s`];
  const first = parts.findIndex((part) => !part.startsWith('0 '));
  if (first === -1) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter((part) => !part.startsWith('0 '))
    .join(' ');
}

/** Returns the time between the start of a run and an event, such as `+0.4 s` or `+3 min 20 s`. */
export function offsetText(milliseconds: number): string {
  return `+${milliseconds < 60_000 ? `${(milliseconds / 1_000).toFixed(1)} s` : durationText(milliseconds)}`;
}

/** Returns a number of bytes with its unit. Number and unit stay on one line. */
export function sizeText(bytes: number | null): string {
  return textOf(bytes).replace(' ', '\u00a0');
}

/** Returns the names in a text, which are separated by commas or line breaks, each name once. */
export function namesIn(text: string): string[] {
  const names = text.split(/[,\n]/).map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== '');
}

/** Returns a public key in the form that the service takes: a line of OpenSSH as it is, PEM in base64. */
export function keyToSend(text: string): string {
  const key = text.trim();
  return key.startsWith('-----BEGIN') ? btoa(key) : key;
}
