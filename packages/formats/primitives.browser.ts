import { sha256 as hashed } from '@noble/hashes/sha2.js';
import { sha3_256 } from '@noble/hashes/sha3.js';

const bytesOf = (data: string | Uint8Array) => (typeof data === 'string' ? new TextEncoder().encode(data) : data);

export const sha256 = (data: string | Uint8Array): Uint8Array => hashed(bytesOf(data));
export const sha3 = (data: string): Uint8Array => sha3_256(bytesOf(data));

/** Fermat's test, which each prime passes. */
export function passesForPrime(number: bigint): boolean {
  let power = 1n;
  for (const digit of (number - 1n).toString(2)) power = ((digit === '1' ? 2n : 1n) * power * power) % number;
  return power === 1n;
}
