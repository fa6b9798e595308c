import type { WireItem, WireValue } from './wire.ts';

/** Returns the size of an item in bytes by AWS's rules ("DynamoDB item sizes and formats"): attribute names and values. */
export function itemSize(item: WireItem | undefined): number {
  return Object.entries(item ?? {}).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueSize(value), 0);
}

const overheadOfCollection = 3;

export function valueSize(value: WireValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberSize(value.N);
  if (value.B !== undefined) return Buffer.byteLength(value.B, 'base64');
  if (value.SS) return sum(value.SS, (each) => Buffer.byteLength(each));
  if (value.NS) return sum(value.NS, numberSize);
  if (value.BS) return sum(value.BS, (each) => Buffer.byteLength(each, 'base64'));
  if (value.L) return overheadOfCollection + sum(value.L, (each) => 1 + valueSize(each));
  if (value.M) return overheadOfCollection + itemSize(value.M) + Object.keys(value.M).length;
  return 1;
}

/** About one byte for every two significant digits, plus one, plus one for the sign. */
function numberSize(number: string): number {
  const digits = number
    .replace(/e.*$/i, '')
    .replace(/[-+.]/g, '')
    .replace(/^0+|0+$/g, '');
  return Math.ceil(digits.length / 2) + 1 + (number.startsWith('-') ? 1 : 0);
}

function sum<T>(values: T[], size: (value: T) => number): number {
  return values.reduce((total, value) => total + size(value), 0);
}

const bytesPerWriteUnit = 1024;
const bytesPerReadUnit = 4096;

/** Returns the write units of one item outside a transaction. */
export const writeUnits = (bytes: number) => Math.max(1, Math.ceil(bytes / bytesPerWriteUnit));

/** Returns the read units of a number of bytes, strongly consistent and outside a transaction. */
export const readUnits = (bytes: number) => Math.max(1, Math.ceil(bytes / bytesPerReadUnit));
