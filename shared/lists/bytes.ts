/** Writes bytes, texts and integers one after another. */
export class ByteWriter {
  private readonly written: number[] = [];

  byte(value: number): void {
    this.written.push(value);
  }

  /** An integer from 0 to 2^53 - 1, seven bits a byte, the lowest first. The highest bit of a byte says that another follows. */
  integer(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`Expected an integer from 0, not ${value}.`);
    let left = value;
    while (left >= 128) {
      this.written.push((left % 128) | 128);
      left = Math.floor(left / 128);
    }
    this.written.push(left);
  }

  /** A text, after its length in bytes. */
  text(value: string): void {
    const bytes = Buffer.from(value, 'utf8');
    this.integer(bytes.length);
    this.written.push(...bytes);
  }

  fixed(bytes: Uint8Array, length: number): void {
    if (bytes.length !== length) throw new TypeError(`Expected ${length} bytes, not ${bytes.length}.`);
    this.written.push(...bytes);
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.written);
  }
}

/** Returns the bytes that ByteWriter.integer takes. */
export function lengthOfInteger(value: number): number {
  let length = 1;
  for (let left = value; left >= 128; left = Math.floor(left / 128)) length++;
  return length;
}

/** Reads what ByteWriter wrote. @throws Error if bytes are missing or left over; an internal error */
export class ByteReader {
  private position = 0;
  private readonly source: Buffer;

  constructor({ buffer, byteOffset, length }: Uint8Array) {
    this.source = Buffer.from(buffer, byteOffset, length);
  }

  get isAtEnd(): boolean {
    return this.position >= this.source.length;
  }

  byte(): number {
    const byte = this.source[this.position++];
    if (byte === undefined) throw new Error('A stored node ends too early.');
    return byte;
  }

  integer(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  text(): string {
    return this.fixed(this.integer()).toString('utf8');
  }

  fixed(length: number): Buffer {
    const start = this.position;
    this.position += length;
    if (this.position > this.source.length) throw new Error('A stored node ends too early.');
    return this.source.subarray(start, this.position);
  }

  /** Like fixed, but returns no bytes at the end. */
  rest(length: number): Buffer {
    return this.fixed(Math.min(length, this.source.length - this.position));
  }

  assertEnd(): void {
    if (!this.isAtEnd) throw new Error('A stored node has bytes left over.');
  }
}
