import * as v from 'valibot';

/** RFC 3339, UTC, milliseconds: `2025-07-17T08:00:00.000Z`. */
export const timestamp = v.pipe(
  v.string(),
  v.isoTimestamp(),
  v.metadata({ format: 'date-time', maxLength: 24, examples: ['2025-07-17T08:00:00.000Z'] }),
);

const expected = 'Expected a time such as 2025-07-17T08:00:00.000Z.';
const rfc3339 = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** A time that a client gives: RFC 3339, in any offset, on a day that exists. */
export const givenTimestamp = v.pipe(
  v.string(expected),
  v.check(isTime, expected),
  v.metadata({ format: 'date-time', maxLength: 35, examples: ['2025-07-17T08:00:00.000Z'] }),
);

function isTime(text: string): boolean {
  const day = rfc3339.exec(text)?.[1];
  return day !== undefined && isDay(Date.parse(`${day}T00:00:00.000Z`), day);
}

/** Date.parse takes February 30 for March 2. */
function isDay(time: number, day: string): boolean {
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(day);
}
