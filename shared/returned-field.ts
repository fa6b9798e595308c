import * as v from 'valibot';

/** A field that the service sets. A PUT accepts and ignores it, so that clients can send back what they read. */
export const returnedField = v.optional(v.pipe(v.unknown(), v.description('Ignored. The service sets this field.')));
