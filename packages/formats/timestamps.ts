import * as v from 'valibot';
import { described } from './fields.ts';

/** The schema of a time that the service returns: RFC 3339, in UTC, with milliseconds, such as `2025-07-17T08:00:00.000Z`. */
export const timestamp = v.pipe(
  v.string(),
  v.isoTimestamp(),
  v.metadata({ format: 'date-time', maxLength: 24, examples: ['2025-07-17T08:00:00.000Z'] }),
);

export const createdAt = described(timestamp, 'The time of the creation.');
export const updatedAt = described(timestamp, 'The time of the last change.');

/**
 * Returns the later of two times of the service, so that a slow request does not set back the time that a later request has set.
 */
export const laterOf = (before: string, now: string): string => (now > before ? now : before);

const expected = 'Expected a time such as 2025-07-17T08:00:00.000Z.';
const rfc3339 =
  /^(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(\.\d{1,9})?(?:[Zz]|([+-](?:[01]\d|2[0-3]):[0-5]\d))$/;

/** The schema of a time that a client sends: RFC 3339, with any offset, on a day that exists. */
export const givenTimestamp = v.pipe(
  v.string(expected),
  v.check((text) => Number.isFinite(timeOf(text)), expected),
  v.metadata({ format: 'date-time', maxLength: 35, examples: ['2025-07-17T08:00:00.000Z'] }),
);

export const exactTimestamp = v.pipe(
  v.string(expected),
  v.check((text) => text.length === 24 && timeOf(text) === Date.parse(text) && new Date(text).toISOString() === text, expected),
  v.metadata({ format: 'date-time', maxLength: 24, examples: ['2025-07-17T08:00:00.000Z'] }),
);

/**
 * Returns a time in RFC 3339 as milliseconds since 1970. Also takes a lower-case `t` or `z`, a space between date and time, and a
 * leap second, which not every Date.parse takes. NaN for any other text.
 */
export function timeOf(text: string): number {
  const [, day = '', minute = '', second = '', fraction = '', offset = 'Z'] = rfc3339.exec(text) ?? [];
  const start = Date.parse(`${day}T${minute}:00${offset}`);
  return isDay(day) ? start + Number(second + fraction) * 1000 : NaN;
}

const secondsPer = new Map(Object.entries({ s: 1, m: 60, h: 3_600, d: 86_400 }));

/** Returns a duration such as `90s`, `30m`, `12h` or `7d` in seconds. @returns NaN for any other text */
export function durationOf(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return Number(amount) * (secondsPer.get(unit) ?? NaN);
}

/** Returns whether a date exists in the calendar: Date.parse takes February 30 for March 2. */
function isDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00.000Z`);
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(day);
}
