import * as v from 'valibot';

/** RFC 3339, UTC, milliseconds: `2025-07-17T08:00:00.000Z`. */
export const timestamp = v.pipe(
  v.string(),
  v.isoTimestamp(),
  v.metadata({ format: 'date-time', maxLength: 24, examples: ['2025-07-17T08:00:00.000Z'] }),
);
