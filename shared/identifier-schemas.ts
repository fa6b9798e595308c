import * as v from 'valibot';
import { text } from './text.ts';

const lengthOfId = 36;

/** The identifier of a computation, an asset or a run; see `numberedId`. */
export const identifier = v.pipe(
  v.string(),
  v.uuid('Expected a UUID.'),
  v.metadata({ format: 'uuid', maxLength: lengthOfId, examples: ['00000000-0001-8c3a-9f0e-2b7d41c5e6a8'] }),
);

export const idOfComputation = v.pipe(identifier, v.description('The identifier of the computation.'));
export const idOfAsset = v.pipe(identifier, v.description('The identifier of the asset.'));
export const idOfRun = v.pipe(identifier, v.description('The identifier of the run.'));

/** The identifier of the resource that a caller asks for. It need not be a UUID: any other text leads to 404. */
/*#__NO_SIDE_EFFECTS__*/
export function uncheckedId() {
  return v.pipe(v.string(), v.metadata({ format: 'uuid', maxLength: lengthOfId }));
}

/** An identifier that a caller compares others with. It need not be a UUID: any other text of its length matches nothing. */
/*#__NO_SIDE_EFFECTS__*/
export function comparedId() {
  return text(0, lengthOfId);
}

/** A domain's identifier. Domains are created outside this service. */
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
