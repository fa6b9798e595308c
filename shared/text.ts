import * as v from 'valibot';

/** Characters as JSON Schema counts them: Unicode code points. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * Text of a bounded number of characters (Unicode code points) that can be stored as it is: no lone surrogates, which
 * UTF-8 cannot hold.
 */
/*#__NO_SIDE_EFFECTS__*/
export function text(minimum: number, maximum: number) {
  return v.pipe(
    v.string(`Expected text of ${minimum} to ${maximum} characters.`),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const length = characters(dataset.value);
      if (length < minimum || length > maximum) {
        addIssue({ message: `Expected text of ${minimum} to ${maximum} characters, not ${length}.` });
      } else if (!dataset.value.isWellFormed()) {
        addIssue({ message: 'Expected well-formed Unicode; the text has a lone surrogate.' });
      }
    }),
    v.metadata({ minLength: minimum, maxLength: maximum }),
  );
}

/** RFC 3339, UTC, milliseconds: `2025-07-17T08:00:00.000Z`. */
export const timestamp = v.pipe(
  v.string(),
  v.isoTimestamp(),
  v.metadata({ format: 'date-time', examples: ['2025-07-17T08:00:00.000Z'] }),
);

export const identifier = v.pipe(
  v.string(),
  v.uuid(),
  v.metadata({ format: 'uuid', examples: ['00000000-0001-8c3a-9f0e-2b7d41c5e6a8'] }),
);

/** A domain identifier comes from outside (decisions, section 1). */
export const domainId = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'Expected 1 to 64 characters of A-Z a-z 0-9 _ -'),
  v.examples(['d1']),
);

export const cvmId = v.pipe(
  v.string('Expected a CVM identifier.'),
  v.regex(/^[A-Za-z0-9_.:-]{1,64}$/, 'Expected 1 to 64 characters of A-Z a-z 0-9 _ - . :'),
  v.examples(['sim-1']),
);

/** `limit` and `offset` of every listing (decisions, R4). They arrive as text. */
export const paging = {
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^(?:[1-9][0-9]?|100)$/, 'Expected a whole number from 1 to 100.'),
      v.description('How many rows at most, 1 to 100; 10 unless told.'),
      v.metadata({ minimum: 1, maximum: 100, default: 10 }),
      v.transform(Number),
    ),
    '10',
  ),
  offset: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^(?:0|[1-9][0-9]{0,14})$/, 'Expected a whole number from 0 to 999999999999999.'),
      v.description('Number of rows to skip, 0 to 999999999999999. Default 0.'),
      v.metadata({ minimum: 0, maximum: 999_999_999_999_999, default: 0 }),
      v.transform(Number),
    ),
    '0',
  ),
};

/** `limit`, `offset` and exact `total` of a paged answer. */
export const pageEnvelope = {
  limit: v.pipe(v.number(), v.integer()),
  offset: v.pipe(v.number(), v.integer()),
  total: v.pipe(v.number(), v.integer(), v.description('Everything the filter matches, exactly.')),
};
