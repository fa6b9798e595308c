import { checkPrimeSync, createHash } from 'node:crypto';

/** The hashes and the test of primes that primitives.browser.ts has for browsers, ten times faster. */

export const sha256 = (data: string | Uint8Array): Uint8Array => createHash('sha256').update(data).digest();
export const sha3 = (data: string): Uint8Array => createHash('sha3-256').update(data).digest();

/** Tries one round of Miller and Rabin, which each prime passes. More rounds would take a quarter of a minute for 8,192 bits. */
export const passesForPrime = (number: bigint): boolean => checkPrimeSync(number, { checks: 1 });
