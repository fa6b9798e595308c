export { challengeSeconds, type Challenge, makeChallenge, openChallenge, sessionOf } from './challenge.ts';
export { type AttestRequest, parseAttestRequest, protocolVersion, reportDataOf, tokenOfEvidence } from './requests.ts';
export { Refused } from './refused.ts';
export { type Jwe, sealForTee, parseTeeKey, type TeeKey, teeThumbprint } from './seal-for-tee.ts';
export { readToken, type TokenClaims, tokenInput, tokenSeconds } from './token.ts';
