import { type Bytes, demand, littleEndian, slice } from './evidence-bytes.ts';
import { reportSize } from './snp-report.ts';

/**
 * Reads the report and the certificates from a protobuf message `sevsnp.Attestation` of google/go-sev-guest. The message has the
 * report as separate fields, so it is put together again into the bytes that the firmware signed.
 */
export function parseSnpMessage(bytes: Bytes): { report: Bytes; certificates: Bytes[] } {
  const attestation = readFields(bytes);
  const report = bytesIn(attestation, 1, 'report');
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

const hashOfSha256 = 0x0bn;

/**
 * Reads the evidence of SNP and of a vTPM from a protobuf message `attest.Attestation` of google/go-tpm-tools (`proto/attest.proto`): the key
 * (field 1), the quotes of all banks of PCRs (2), of which the one of SHA-256 counts, and `sevsnp.Attestation` (8).
 */
export function parseVtpmMessage(bytes: Bytes) {
  const fields = readFields(bytes, [2, 7]);
  const ofBanks = valuesIn(bytes, 2).map((quote) => readFields(quote)); // message Quote: quote, raw_sig, pcrs
  const banks = ofBanks.map((quote) => ({ quote, pcrs: bytesIn(quote, 3, 'PCRs') }));
  const ofSha256 = banks.filter(({ pcrs }) => readFields(pcrs, [2]).get(1) === hashOfSha256); // message PCRs: hash, pcrs
  const [bank] = ofSha256;
  demand(bank !== undefined && ofSha256.length === 1, 'it has not one quote of the bank of SHA-256');
  const pcrs = valuesIn(bank.pcrs, 2).map((entry) => {
    const pair = readFields(entry); // of a map: key, value
    return [Number(pair.get(1) ?? 0), bytesIn(pair, 2, 'value of a PCR')] as const;
  });
  return {
    ...parseSnpMessage(bytesIn(fields, 8, 'report of SNP')),
    key: bytesIn(fields, 1, 'key of the quote'),
    quote: bytesIn(bank.quote, 1, 'quote'),
    signature: bytesIn(bank.quote, 2, 'signature of the quote'),
    pcrs: new Map(pcrs),
  };
}

function bytesIn(fields: ReadonlyMap<number, Value>, field: number, what: string): Bytes {
  const value = fields.get(field);
  demand(value instanceof Uint8Array, `it has no ${what}`);
  return value;
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
/** Bits of CPUID(1).EAX that are reserved or zero on AMD: 12 to 15, 28 to 31. The bytes of a report do not have them. */
const reservedInEax = 0xf000f000 | 0;
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
  demand((eax & reservedInEax) === 0, 'its processor has reserved bits');
  const family = ((eax >>> 20) & 0xff) + ((eax >>> 8) & 0xf);
  const model = (((eax >>> 16) & 0xf) << 4) | ((eax >>> 4) & 0xf);
  return [family, model, eax & 0xf];
}

function littleEndianBytes(value: Value, size: number): Bytes | null {
  if (typeof value !== 'bigint' || value >= 1n << BigInt(size * 8)) return null;
  return Uint8Array.from({ length: size }, (_, at) => Number((value >> BigInt(at * 8)) & 0xffn));
}

/**
 * Reads the fields of a protobuf message, by their numbers. Only types 0 (number) and 2 (bytes) are read.
 * @param repeated the fields that may occur several times: the last one counts. Default: 7, `extras`, which is not read
 * @throws Refusal if the message has something else or is cut off
 */
function readFields(bytes: Bytes, repeated: readonly number[] = [7]): Map<number, Value> {
  const fields = new Map<number, Value>();
  for (const [field, value] of entriesOf(bytes)) {
    const mayBe = !fields.has(field) || (repeated.includes(field) && value instanceof Uint8Array);
    demand(mayBe, `its protobuf has field ${field} twice`);
    fields.set(field, value);
  }
  return fields;
}

/** Returns the values of a field of a protobuf message that may occur several times, of type 2. */
const valuesIn = (bytes: Bytes, field: number): Bytes[] =>
  entriesOf(bytes).flatMap(([each, value]) => (each === field && value instanceof Uint8Array ? [value] : []));

function entriesOf(bytes: Bytes): [number, Value][] {
  const entries: [number, Value][] = [];
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
    entries.push([field, value]);
  }
  return entries;
}
