export { challengeSeconds, type Challenge, makeChallenge, openChallenge, sessionOf } from './challenge.ts';
export { type AttestRequest, parseAttestRequest, protocolVersion, reportDataOf, tokenOfEvidence } from './requests.ts';
export { Refused } from './refused.ts';
export { type Jwe, sealForTee } from './seal-for-tee.ts';
export { parseTeeKey, type TeeKey, teeThumbprint } from './tee-key.ts';
export { readToken, type TokenClaims, tokenInput, tokenSeconds } from './token.ts';
