/** The approximate overhead of an object, in bytes, in addition to its strings and byte arrays. */
const frame = 50;

/** Returns about how many bytes a message takes: all of its strings and byte arrays, at any depth. */
export function sizeOf(message: object): number {
  let size = frame;
  for (const value of Object.values(message) as unknown[]) {
    if (typeof value === 'string' || value instanceof Uint8Array) size += value.length;
    else if (typeof value === 'object' && value !== null) size += sizeOf(value);
  }
  return size;
}
