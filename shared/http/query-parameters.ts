import * as v from 'valibot';

const mostEntries = 100;

/** The largest `offset` of a list, the largest integer that is exact in JavaScript. */
const largestOffset = Number.MAX_SAFE_INTEGER;

const offset = v.pipe(
  v.string(),
  v.check(
    (text) => /^(?:0|[1-9][0-9]{0,15})$/.test(text) && Number(text) <= largestOffset,
    `Expected a whole number from 0 to ${largestOffset}.`,
  ),
  v.description('The number of entries to skip. Default 0.'),
  v.metadata({ minimum: 0, maximum: largestOffset, default: 0 }),
  v.transform(Number),
);

/** The query parameters `limit` and `offset` of a list. They arrive as text and are parsed to numbers. */
export const paging = {
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^(?:[1-9][0-9]?|100)$/, 'Expected a whole number from 1 to 100.'),
      v.description('The maximum number of entries to return, from 1 to 100. Default 10.'),
      v.metadata({ minimum: 1, maximum: mostEntries, default: 10 }),
      v.transform(Number),
    ),
    '10',
  ),
  offset: v.optional(offset, '0'),
};

/**
 * The query parameter `offset` of a list that must know whether the client sent it. Undefined if it was not sent, which means 0.
 */
export const offsetIfSent = v.optional(offset);

/** Returns the schema of the entries on a page: up to 100 rows. */
/*#__NO_SIDE_EFFECTS__*/
export function entriesOf<const Row extends v.GenericSchema>(row: Row, description: string) {
  return v.pipe(v.array(row), v.description(description), v.metadata({ maxItems: mostEntries }));
}

/** Schemas of the fields that every page of a list has beside its entries: `limit`, `offset` and `total`. */
export const pageEnvelope = {
  limit: v.pipe(
    v.number(),
    v.integer(),
    v.description('The `limit` of the request, or its default.'),
    v.metadata({ minimum: 1, maximum: mostEntries }),
  ),
  offset: v.pipe(v.number(), v.integer(), v.description('The `offset` of the request, or 0.')),
  total: v.pipe(v.number(), v.integer(), v.description('The exact number of entries that match the filter.')),
};

/** The query parameter `wait`, in seconds. It arrives as text and is parsed to a number. */
export const waitParameter = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^(?:1?[0-9]|20)$/, 'Expected a whole number from 0 to 20.'),
    v.description(
      'The number of seconds to wait if there is nothing to return yet, from 0 to 20. Default 0. The response may come earlier and be empty.',
    ),
    v.metadata({ minimum: 0, maximum: 20, default: 0 }),
    v.transform(Number),
  ),
  '0',
);
