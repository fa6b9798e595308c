/**
 * The interface of `shared/evidence`, which makes and signs statements about runs that have ended. Code outside of this folder,
 * except for the handlers of evidence, imports only these names: the public keys that verify signatures.
 */

export { publicJwkSchema, readPublishedKeys } from './signing-key.ts';
