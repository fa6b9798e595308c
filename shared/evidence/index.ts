/**
 * The interface of `shared/evidence`, which makes and signs statements about runs that have ended. Code outside of this folder,
 * except for the handlers of evidence, imports only these names: the public keys that verify signatures, the event that began or ended a
 * run, and what makes, signs and stores other statements.
 */

export { evidenceSchema } from './evidence.ts';
export { readEventOf, readStatement, type Sources, type StatementRequest } from './signed-statement.ts';
export { publicJwkSchema, readPublishedKeys, sign } from './signing-key.ts';
