import { randomBytes } from 'node:crypto';

/**
 * Creates the identifier of a computation, asset, run or event: a UUID of version 8 (RFC 9562, section 5.8). The first 48 bits
 * are the resource's number in its domain's list, or the event's number in its journal. The other 74 free bits are random. The
 * number is the key of the row, so a resource is read by its identifier in one round trip, without a second copy of the row.
 * @throws TypeError if `number` is not an integer from 0 to 2^48 - 1
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

/** Returns the number in an identifier, or undefined if this service cannot have issued it. */
export function numberOf(id: string): number | undefined {
  return numbered.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
}
