import { arrayOf, described, namedObject } from 'computation-management-formats/fields';
import { uncheckedId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';

const mostEntries = 100;

/** Makes the schema of a query parameter that a client may leave out. */
/*#__NO_SIDE_EFFECTS__*/
export function ifSent<const Schema extends v.GenericSchema>(schema: Schema, description: string) {
  return v.optional(described(schema, description));
}

/** Makes the schema of a query parameter that is a whole number. It arrives as text and is parsed to a number. */
/*#__NO_SIDE_EFFECTS__*/
export function wholeNumber(minimum: number, maximum: number, byDefault: number, description: string) {
  const isWithin = (text: string) => /^(?:0|[1-9][0-9]{0,15})$/.test(text) && Number(text) >= minimum && Number(text) <= maximum;
  const number = v.pipe(
    v.string(),
    v.check(isWithin, `Expected a whole number from ${minimum} to ${maximum}.`),
    v.description(description),
    v.metadata({ minimum, maximum, default: byDefault }),
    v.transform(Number),
  );
  return v.optional(number, String(byDefault));
}

/** The query parameters `limit` and `offset` of a list. The largest `offset` is the largest integer that is exact in JavaScript. */
export const paging = {
  limit: wholeNumber(1, mostEntries, 10, 'The maximum number of entries to return, from 1 to 100. Default 10.'),
  offset: wholeNumber(0, Number.MAX_SAFE_INTEGER, 0, 'The number of entries to skip. Default 0.'),
};

/**
 * The query parameter `offset` of a list that must know whether the client sent it. Undefined if it was not sent, which means 0.
 */
export const offsetIfSent = v.optional(paging.offset.wrapped);

/** Returns the schema of the entries on a page: up to 100 rows. */
/*#__NO_SIDE_EFFECTS__*/
export function entriesOf<const Row extends v.GenericSchema>(row: Row, description: string) {
  return arrayOf(row, mostEntries, description);
}

const integer = v.pipe(v.number(), v.integer());
const limit = described(integer, 'The `limit` of the request, or its default.');
const pageEnvelope = {
  limit: v.pipe(limit, v.metadata({ minimum: 1, maximum: mostEntries })),
  offset: described(integer, 'The `offset` of the request, or 0.'),
  total: described(integer, 'The exact number of entries that match the filter.'),
};

/** Makes the schema of a page of a list, which has `limit`, `offset` and `total` beside its entries. */
/*#__NO_SIDE_EFFECTS__*/
export function pageOf<const Entries extends v.ObjectEntries>(title: string, description: string, entries: Entries) {
  return namedObject(title, description, { ...entries, ...pageEnvelope });
}

/** The query parameter `wait`, in seconds. */
export const waitParameter = wholeNumber(
  0,
  20,
  0,
  'The number of seconds to wait if there is nothing to return yet, from 0 to 20. Default 0. The response may come earlier and be empty.',
);

/** The query parameter `run` of endpoints about one run of a computation. */
export const runParameter = described(uncheckedId(), 'The identifier of a run of this computation.');

/** The query parameter `run` of endpoints that take the latest run of a computation without it. */
export const runIfSent = ifSent(uncheckedId(), 'The identifier of a run of this computation. Default: the latest run.');
