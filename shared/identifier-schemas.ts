import * as v from 'valibot';

/** The identifier of a computation, an asset or a run; see `numberedId`. */
export const identifier = v.pipe(
  v.string(),
  v.uuid('Expected a UUID.'),
  v.metadata({ format: 'uuid', maxLength: 36, examples: ['00000000-0001-8c3a-9f0e-2b7d41c5e6a8'] }),
);

/** An identifier that a caller sends. It need not be a UUID: any other text matches nothing, so it leads to 404 or an empty list. */
/*#__NO_SIDE_EFFECTS__*/
export function uncheckedId(expected?: string) {
  return v.pipe(v.string(expected), v.metadata({ format: 'uuid', maxLength: 36 }));
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
