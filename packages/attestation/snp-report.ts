import { type Bytes, demand, isZero, littleEndian, slice } from './evidence-bytes.ts';

/** The security versions (0 to 255) of the firmware parts of an SNP machine, as AMD's firmware reports them. */
export interface SnpTcb {
  /** The version of the first firmware that boots. Turin alone has it. */
  fmc?: number;
  bootloader: number;
  tee: number;
  snp: number;
  microcode: number;
}

export type SnpReport = ReturnType<typeof parseSnpReport>;

// The offsets are those of "SEV Secure Nested Paging Firmware ABI Specification" of AMD (document 56860, revision 1.58), section 7.3,
// Table 23 "ATTESTATION_REPORT Structure". Names in capitals are the fields of that table. Numbers are little-endian.

export const reportSize = 0x4a0;
/** The offset of SIGNATURE. The signature covers all bytes before it. */
const signatureAt = 0x2a0;
/**
 * The number of bytes that an SNP report has for each of the two numbers of its signature (56860, chapter 10, "ECDSA P-384 with
 * SHA-384"): r, then s, little-endian. P-384 uses 48 of them, the others are zero.
 */
const slot = 72;
const numberSize = 48;

/**
 * Reads the fields of an attestation report of SNP, versions 2 to 5. Reserved bytes must be zero in each version, more strictly than go-sev-guest
 * asks: a later firmware could mean something by them that nobody judged.
 * @throws Refusal if the report is malformed
 */
export function parseSnpReport(bytes: Bytes) {
  demand(bytes.length === reportSize, `it has ${bytes.length} bytes, not ${reportSize}`);
  const version = littleEndian(bytes, 0x00, 4); // VERSION
  demand(version >= 2 && version <= 5, `its version ${version} is unknown`);
  const signatureAlgorithm = littleEndian(bytes, 0x34, 4); // SIGNATURE_ALGO, chapter 10
  demand(signatureAlgorithm === 1, `its signature algorithm ${signatureAlgorithm} is not 1, ECDSA with P-384 and SHA-384`);
  // POLICY, section 4.3: bit 17 is reserved and one, bits 26 to 63 are reserved and zero.
  const policy = littleEndian(bytes, 0x08, 4);
  const isKnown = (policy & (1 << 17)) !== 0 && policy < 1 << 26 && littleEndian(bytes, 0x0c, 4) === 0;
  demand(isKnown, 'its guest policy has reserved bits');
  const signer = littleEndian(bytes, 0x48, 4); // bits 4:2 are SIGNING_KEY, bits 31:5 are reserved
  const signedBy = (['VCEK', 'VLEK'] as const)[(signer >> 2) & 7];
  demand(signer < 32 && signedBy !== undefined, `its signing key ${signer} is neither VCEK nor VLEK`);
  const reserved = [
    [0x4c, 0x50],
    [version < 3 ? 0x188 : 0x18b, 0x1a0], // CPUID_FAM_ID, CPUID_MOD_ID, CPUID_STEP come with version 3
    [0x1eb, 0x1ec], // between CURRENT_MAJOR and COMMITTED_BUILD
    [0x1ef, 0x1f0], // between COMMITTED_MAJOR and LAUNCH_TCB
    [version < 5 ? 0x1f8 : 0x208, signatureAt], // LAUNCH_MIT_VECTOR, CURRENT_MIT_VECTOR come with version 5
    [signatureAt + numberSize, signatureAt + slot],
    [signatureAt + slot + numberSize, reportSize],
  ] as const;
  for (const [from, to] of reserved) demand(isZero(bytes.subarray(from, to)), `its reserved bytes from ${from} are not zero`);
  return {
    signedBytes: bytes.slice(0, signatureAt),
    /** The signature of the report: the numbers r and s, 48 bytes each, big-endian. */
    signature: Uint8Array.from([signatureAt, signatureAt + slot].flatMap((at) => [...slice(bytes, at, numberSize).toReversed()])),
    version,
    /** VMPL: 0 to 3 in a report that the guest asked for, 0xffffffff in one that the host asked for. */
    vmpl: littleEndian(bytes, 0x30, 4),
    signedBy,
    /** DEBUG, bit 19 of POLICY: the host may debug the guest. */
    debug: (policy & (1 << 19)) !== 0,
    /** MIGRATE_MA, bit 18 of POLICY: the guest may be handed to a migration agent. */
    migrationAgent: (policy & (1 << 18)) !== 0,
    /** REPORT_DATA: what the guest gave with its request. */
    reportData: slice(bytes, 0x50, 64),
    /** MEASUREMENT: the digest of what the guest was launched with. */
    measurement: slice(bytes, 0x90, 48),
    /** REPORT_ID: a number of the guest that the firmware makes up when it launches the guest. */
    guest: slice(bytes, 0x140, 32),
    /** REPORTED_TCB: the security versions that the report states and that its signing key is derived from, eight bytes. */
    reportedTcb: slice(bytes, 0x180, 8),
    /** COMMITTED_TCB: the security versions that the machine cannot go back behind. */
    committedTcb: slice(bytes, 0x1e0, 8),
    /** CURRENT_TCB: the security versions that run. */
    currentTcb: slice(bytes, 0x38, 8),
    /** CHIP_ID: the number of the chip. Zeros if the host hides it (MASK_CHIP_ID). */
    chipId: slice(bytes, 0x1a0, 64),
    /** The name of the processor by CPUID_FAM_ID and CPUID_MOD_ID, such as `Milan`. Null in version 2, which does not say. */
    product: version < 3 ? null : productOf(bytes[0x188] ?? 0, bytes[0x189] ?? 0),
  };
}

/**
 * Returns the name of an AMD processor with a family and model, such as `Milan`. Bergamo and Siena (models A0h to AFh) are Genoa, and model 0
 * is Milan, though go-sev-guest knows neither: AMD certifies them below the roots of Genoa and Milan, and another root fails `product`.
 */
function productOf(family: number, model: number): string {
  if (family === 0x19 && model < 0x10) return 'Milan';
  if (family === 0x19 && ((model >= 0x10 && model < 0x20) || (model >= 0xa0 && model < 0xb0))) return 'Genoa';
  if (family === 0x1a && model < 0x20) return 'Turin';
  return `family ${family} model ${model}`;
}

/** The parts of the firmware in the order of the bytes of a TCB_VERSION (56860, section 2.2). Null: the byte is reserved. */
export const tcbOrder = {
  others: ['bootloader', 'tee', null, null, null, null, 'snp', 'microcode'],
  turin: ['fmc', 'bootloader', 'tee', 'snp', null, null, null, 'microcode'],
} as const;

/** Reads the security versions from the eight bytes of a TCB_VERSION of a product, such as `Milan`. Null: a report that names no product. */
export function snpTcb(version: Bytes, product: string | null): SnpTcb {
  const order = product === 'Turin' ? tcbOrder.turin : tcbOrder.others;
  const named = order.flatMap((name, at) => (name === null ? [] : [[name, version[at] ?? 0] as const]));
  return Object.fromEntries(named) as unknown as SnpTcb;
}

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
