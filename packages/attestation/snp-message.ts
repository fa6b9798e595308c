import { type Bytes, demand, littleEndian, slice } from './evidence-bytes.ts';
import { reportSize } from './snp-report.ts';

/**
 * Reads the report and the certificates from a protobuf message `sevsnp.Attestation` of google/go-sev-guest. The message has the
 * report as separate fields, so it is put together again into the bytes that the firmware signed.
 */
export function parseSnpMessage(bytes: Bytes): { report: Bytes; certificates: Bytes[] } {
  const attestation = readFields(bytes);
  const report = attestation.get(1);
  demand(report instanceof Uint8Array, 'it has no report');
  const chain = attestation.get(2);
  const certificates = chain instanceof Uint8Array ? readFields(chain) : new Map<number, Value>();
  return {
    report: assemble(readFields(report)),
    certificates: [1, 6, 2, 3].flatMap((field) => {
      const certificate = certificates.get(field);
      return certificate instanceof Uint8Array && certificate.length > 0 ? [certificate] : [];
    }),
  };
}

type Value = bigint | Bytes;

/**
 * The places of the fields of the protobuf message `Report` (`proto/sevsnp.proto` of google/go-sev-guest) in an SNP report, in bytes
 * from its start (AMD's document 56860, section 7.3, Table 23): entry 0 is for field 1. The sizes are in `sizes`. Fields of up to 8
 * bytes are numbers.
 */
const offsets = [
  0x00, 0x04, 0x08, 0x10, 0x20, 0x30, 0x34, 0x38, 0x40, 0x48, 0x50, 0x90, 0xc0, 0xe0, 0x110, 0x140, 0x160, 0x180, 0x1a0, 0x1e0,
  0x1e8, 0x1e9, 0x1ea, 0x1ec, 0x1ed, 0x1ee, 0x1f0, 0x2a0, 0x188, 0x1f8, 0x200,
];
const sizes = [4, 4, 8, 16, 16, 4, 4, 8, 8, 4, 64, 48, 32, 48, 48, 32, 32, 8, 64, 8, 1, 1, 1, 1, 1, 1, 8, 512, 4, 8, 8];
/** The number of the protobuf field with CPUID(1).EAX, which a report has as three bytes: family, model and stepping. */
const processorField = 29;

function assemble(fields: ReadonlyMap<number, Value>): Bytes {
  const report = new Uint8Array(reportSize);
  for (const [field, value] of fields) {
    const [at, size] = [offsets[field - 1], sizes[field - 1]];
    demand(at !== undefined && size !== undefined, `its report has the unknown field ${field}`);
    const bytes = size > 8 ? value : littleEndianBytes(value, size);
    demand(bytes instanceof Uint8Array && bytes.length === size, `field ${field} of its report does not have ${size} bytes`);
    report.set(field === processorField ? processor(littleEndian(bytes, 0, 4)) : bytes, at);
  }
  return report;
}

function processor(eax: number): number[] {
  const family = ((eax >>> 20) & 0xff) + ((eax >>> 8) & 0xf);
  const model = (((eax >>> 16) & 0xf) << 4) | ((eax >>> 4) & 0xf);
  return [family, model, eax & 0xf];
}

function littleEndianBytes(value: Value, size: number): Bytes | null {
  if (typeof value !== 'bigint' || value >= 1n << BigInt(size * 8)) return null;
  return Uint8Array.from({ length: size }, (_, at) => Number((value >> BigInt(at * 8)) & 0xffn));
}

/**
 * Reads the fields of a protobuf message, by their numbers. Only types 0 (number) and 2 (bytes) are read, and only field 7 may
 * occur twice.
 * @throws Refusal if the message has something else or is cut off
 */
function readFields(bytes: Bytes): Map<number, Value> {
  const fields = new Map<number, Value>();
  let at = 0;
  const readNumber = (): bigint => {
    let number = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      demand(byte !== undefined && shift < 70n, 'its protobuf is cut off');
      number |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
  };
  while (at < bytes.length) {
    const tag = readNumber();
    const [field, type] = [Number(tag >> 3n), Number(tag & 7n)];
    demand(type === 0 || type === 2, `its protobuf has a field of type ${type}`);
    let value: Value = readNumber();
    if (type === 2) {
      value = slice(bytes, at, Number(value));
      at += value.length;
    }
    const earlier = fields.get(field);
    // Only `extras`, a map of further certificates, may occur several times. It is not read.
    demand(earlier === undefined || (field === 7 && value instanceof Uint8Array), `its protobuf has field ${field} twice`);
    fields.set(field, value);
  }
  return fields;
}
