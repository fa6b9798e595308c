import { sha256 as hashed } from '@noble/hashes/sha2.js';
import { sha3_256 } from '@noble/hashes/sha3.js';

const bytesOf = (data: string | Uint8Array) => (typeof data === 'string' ? new TextEncoder().encode(data) : data);

export const sha256 = (data: string | Uint8Array): Uint8Array => hashed(bytesOf(data));
export const sha3 = (data: string): Uint8Array => sha3_256(bytesOf(data));

/**
 * Returns whether a number passes the primality test of Miller and Rabin with five random bases. Every prime passes, and other
 * numbers pass at most once in 1,000 tests. They mostly fail in the first round.
 */
export function passesForPrime(number: bigint): boolean {
  return crypto.getRandomValues(new Uint32Array(5)).every((base) => {
    let power = 1n;
    for (const digit of (number - 1n).toString(2)) {
      const square = power ** 2n % number;
      if (square === 1n && power !== 1n && power !== number - 1n) return false;
      power = digit === '1' ? ((BigInt(base) + 2n) * square) % number : square;
    }
    return power === 1n;
  });
}
