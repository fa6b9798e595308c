import { invalid } from '../errors.ts';

/** The plus sign of an offset arrives as a space if the client did not encode it. */
const rfc3339 = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+\- ])(\d{2}):(\d{2}))$/;
const unixSeconds = /^(\d{1,12})(?:\.(\d+))?$/;

const year0 = Date.parse('0000-01-01T00:00:00.000Z');
const year9999 = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Parses the `from` or `to` of a listing: RFC 3339 or Unix seconds, both with an optional fraction. Rounds fractions finer than
 * a millisecond into the range, up for `from` and down for `to`.
 * @throws ServiceError `invalid_request` for any other text
 */
export function parseTimeBound(text: string, bound: 'from' | 'to'): string {
  const time = fromRfc3339(text, bound) ?? fromUnixSeconds(text, bound);
  if (time === undefined || !(time >= year0 && time <= year9999)) {
    throw invalid(`query/${bound}`, 'Expected an RFC 3339 timestamp such as 2025-07-17T08:00:00Z, or Unix seconds.');
  }
  return new Date(time).toISOString();
}

function fromRfc3339(text: string, bound: 'from' | 'to'): number | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
  const [, date = '', minute = '', second, fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = match;
  const start = Date.parse(`${date}T${minute}:00.000Z`);
  const isReal = Number.isFinite(start) && new Date(start).toISOString().startsWith(`${date}T${minute}`);
  if (!isReal || Number(second) > 60 || Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined;
  const offset = (sign === '-' ? -1 : 1) * (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000;
  return start + Number(second) * 1000 + millisecondsOf(fraction, bound) - offset;
}

function fromUnixSeconds(text: string, bound: 'from' | 'to'): number | undefined {
  const match = unixSeconds.exec(text);
  return match ? Number(match[1]) * 1000 + millisecondsOf(match[2] ?? '', bound) : undefined;
}

function millisecondsOf(fraction: string, bound: 'from' | 'to'): number {
  const isFiner = /[1-9]/.test(fraction.slice(3));
  return Number(fraction.slice(0, 3).padEnd(3, '0')) + (bound === 'from' && isFiner ? 1 : 0);
}
