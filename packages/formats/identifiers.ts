import * as v from 'valibot';
import { toHex } from './bytes.ts';
import { described, text } from './fields.ts';

/**
 * Makes an identifier: a UUID of version 8 (RFC 9562, section 5.8). Its first 48 bits are the number of the resource in its
 * domain's list, or of the event in its journal; 74 bits are random. So a resource is read by its identifier in one round trip.
 * @throws TypeError if `number` is not an integer from 0 to 2^48 - 1
 */
export function numberedId(number: number): string {
  if (!Number.isSafeInteger(number) || number < 0 || number >= 2 ** 48) {
    throw new TypeError(`A list number is an integer from 0 to 2^48 - 1, not ${number}.`);
  }
  const head = number.toString(16).padStart(12, '0');
  const random = crypto.getRandomValues(new Uint8Array(10));
  random[0] = ((random[0] ?? 0) & 0x0f) | 0x80;
  random[2] = ((random[2] ?? 0) & 0x3f) | 0x80;
  const tail = toHex(random);
  return [head.slice(0, 8), head.slice(8), tail.slice(0, 4), tail.slice(4, 8), tail.slice(8)].join('-');
}

const numbered = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Returns the number of a resource or event that its identifier contains. Undefined if this service cannot have issued the
 * identifier.
 */
export const numberOf = (id: string): number | undefined =>
  numbered.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;

const lengthOfId = 36;

/** Cuts a text that is too long for an identifier. It names nothing, and might be too long for a key of DynamoDB. */
export const shortened = (id: string): string => id.slice(0, lengthOfId + 1).toWellFormed();

/** The schema of an identifier: a UUID, such as `numberedId` makes it. */
export const identifier = v.pipe(
  v.string(),
  v.uuid('Expected a UUID.'),
  v.metadata({ format: 'uuid', maxLength: lengthOfId, examples: ['00000000-0001-8c3a-9f0e-2b7d41c5e6a8'] }),
);

export const idOfComputation = described(identifier, 'The identifier of the computation.');
export const idOfAsset = described(identifier, 'The identifier of the asset.');
export const idOfRun = described(identifier, 'The identifier of the run.');

/**
 * Makes the schema of an identifier in upper or lower case. The text need not be a UUID: any other text, of any length, leads to 404.
 */
/*#__NO_SIDE_EFFECTS__*/
export function uncheckedId(description: string) {
  return v.pipe(
    v.string(),
    v.description(description),
    v.metadata({ format: 'uuid', maxLength: lengthOfId }),
    v.transform((id) => shortened(id.toLowerCase())),
  );
}

/**
 * Makes the schema of an identifier in a query, in upper or lower case. The text need not be a UUID: any other text of up to the
 * same length matches nothing.
 */
/*#__NO_SIDE_EFFECTS__*/
export function comparedId() {
  return v.pipe(text(0, lengthOfId), v.toLowerCase());
}

/** The schema of a domain's identifier. Domains are created outside this service. */
export const domainId = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'Expected 1 to 64 of the characters A-Z, a-z, 0-9, _ and -.'),
  v.metadata({ minLength: 1, maxLength: 64, examples: ['d1'] }),
);

export const cvmId = v.pipe(
  v.string('Expected a CVM identifier.'),
  // No URL has a segment `.` or `..`: clients remove it.
  v.regex(
    /^(?!\.{1,2}$)[A-Za-z0-9_.:-]{1,64}$/,
    'Expected 1 to 64 of the characters A-Z, a-z, 0-9, _, -, . and :, but not . or .. alone.',
  ),
  v.metadata({ minLength: 1, maxLength: 64, examples: ['sim-1'] }),
);
