import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { refusedNow } from './refused.ts';

/** The time in which a challenge can be answered. */
export const challengeSeconds = 300;

/** A secret of 32 bytes, and the audience of the challenges that are made with it, such as a domain. */
export interface ChallengeKey {
  secret: Uint8Array;
  audience: string;
}

/** A challenge, of which the server keeps nothing: `nonce` goes into the evidence, `session` into the client's cookie. */
export interface Challenge {
  /** The number that the evidence must contain: the time (8 bytes), 24 random bytes and the MAC of both, in base64. */
  nonce: string;
  /** A secret of the client in base64url, 43 characters, that belongs to the nonce. Evidence shows the nonce, but not this. */
  session: string;
}

const timeBytes = 8;
const randomSize = 24;
const macBytes = 32;
const inFuture = 60_000;

const mac = ({ secret, audience }: ChallengeKey, what: string, bytes: Uint8Array) =>
  createHmac('sha256', secret)
    .update(JSON.stringify([what, audience]))
    .update(bytes)
    .digest();

/** Makes a challenge. @param now the time, which the nonce contains */
export function makeChallenge(key: ChallengeKey, now: Date): Challenge {
  const time = Buffer.alloc(timeBytes);
  time.writeBigUInt64BE(BigInt(now.getTime()));
  const body = Buffer.concat([time, randomBytes(randomSize)]);
  const nonce = Buffer.concat([body, mac(key, 'nonce', body)]).toString('base64');
  return { nonce, session: sessionOf(key, nonce) };
}

/** Returns the session that belongs to a nonce. */
export const sessionOf = (key: ChallengeKey, nonce: string) => mac(key, 'session', Buffer.from(nonce)).toString('base64url');

/**
 * Returns when a challenge was made.
 * @param session the value of the client's cookie
 * @throws Refused if another service or audience made the nonce, it is older than `challengeSeconds`, or the session is of another nonce
 */
export function openChallenge(key: ChallengeKey, { nonce, session }: Challenge, now: Date): Date {
  const bytes = Buffer.from(nonce, 'base64');
  const body = bytes.subarray(0, timeBytes + randomSize);
  const isOurs =
    bytes.length === timeBytes + randomSize + macBytes &&
    bytes.toString('base64') === nonce &&
    timingSafeEqual(bytes.subarray(body.length), mac(key, 'nonce', body));
  if (!isOurs) throw refusedNow('The nonce is none of this service.');
  const [given, expected] = [Buffer.from(session), Buffer.from(sessionOf(key, nonce))];
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw refusedNow('The session is not that of the nonce.');
  const madeAt = Number(body.readBigUInt64BE());
  if (now.getTime() - madeAt > challengeSeconds * 1_000 || madeAt - now.getTime() > inFuture)
    throw refusedNow('The nonce is older than 5 minutes.');
  return new Date(madeAt);
}
