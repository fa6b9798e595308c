import { randomBytes } from 'node:crypto';

/**
 * Identifiers of computations, assets and runs are UUIDs of version 8 (RFC 9562, section 5.8): the first 48 bits are the
 * number that the resource has in its domain's list, the other 74 free bits are random. The number is the key of the
 * resource's row, so an identifier is read in one round trip and no row is stored twice.
 */
export function numberedId(number: number): string {
  if (!Number.isSafeInteger(number) || number < 0 || number >= 2 ** 48) {
    throw new TypeError(`A list number is an integer from 0 to 2^48 - 1, not ${number}.`);
  }
  const head = number.toString(16).padStart(12, '0');
  const random = randomBytes(10);
  random[0] = ((random[0] ?? 0) & 0x0f) | 0x80;
  random[2] = ((random[2] ?? 0) & 0x3f) | 0x80;
  const tail = random.toString('hex');
  return [head.slice(0, 8), head.slice(8), tail.slice(0, 4), tail.slice(4, 8), tail.slice(8)].join('-');
}

const numbered = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The list number inside an identifier, or undefined for text that this service cannot have issued. */
export function numberOf(id: string): number | undefined {
  return numbered.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
}
