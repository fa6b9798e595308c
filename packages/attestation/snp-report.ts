import { type Bytes, demand, isZero, littleEndian, slice } from './evidence-bytes.ts';

/**
 * The security versions (0 to 255) of the firmware parts of an SNP machine, as AMD's firmware reports them for Milan and Genoa.
 */
export interface SnpTcb {
  bootloader: number;
  tee: number;
  snp: number;
  microcode: number;
}

export type SnpReport = ReturnType<typeof parseSnpReport>;

export const reportSize = 0x4a0;
const signatureAt = 0x2a0;
/** The number of bytes that an SNP report has for each of the two numbers of its signature. P-384 uses 48 of them. */
const slot = 72;
const numberSize = 48;

/**
 * Reads the fields of an attestation report of SNP (SEV-SNP firmware ABI, versions 2 to 5).
 * @throws Refusal if the report is malformed
 */
export function parseSnpReport(bytes: Bytes) {
  demand(bytes.length === reportSize, `it has ${bytes.length} bytes, not ${reportSize}`);
  const version = littleEndian(bytes, 0, 4);
  demand(version >= 2 && version <= 5, `its version ${version} is unknown`);
  const signatureAlgorithm = littleEndian(bytes, 0x34, 4);
  demand(signatureAlgorithm === 1, `its signature algorithm ${signatureAlgorithm} is not 1, ECDSA with P-384 and SHA-384`);
  const policy = littleEndian(bytes, 0x08, 4);
  demand(
    (policy & (1 << 17)) !== 0 && policy < 1 << 26 && littleEndian(bytes, 0x0c, 4) === 0,
    'its guest policy has reserved bits',
  );
  const signer = littleEndian(bytes, 0x48, 4);
  const signedBy = (['VCEK', 'VLEK'] as const)[(signer >> 2) & 7];
  demand(signer < 32 && signedBy !== undefined, `its signing key ${signer} is neither VCEK nor VLEK`);
  const reserved = [
    [0x4c, 0x50],
    [version < 3 ? 0x188 : 0x18b, 0x1a0],
    [0x1eb, 0x1ec],
    [0x1ef, 0x1f0],
    [version < 5 ? 0x1f8 : 0x208, signatureAt],
    [signatureAt + numberSize, signatureAt + slot],
    [signatureAt + slot + numberSize, reportSize],
  ] as const;
  for (const [from, to] of reserved) demand(isZero(bytes.subarray(from, to)), `its reserved bytes from ${from} are not zero`);
  return {
    signedBytes: bytes.slice(0, signatureAt),
    /** The signature of the report: the numbers r and s, 48 bytes each, big-endian. */
    signature: Uint8Array.from([signatureAt, signatureAt + slot].flatMap((at) => [...slice(bytes, at, numberSize).toReversed()])),
    version,
    vmpl: littleEndian(bytes, 0x30, 4),
    signedBy,
    debug: (policy & (1 << 19)) !== 0,
    migrationAgent: (policy & (1 << 18)) !== 0,
    reportData: slice(bytes, 0x50, 64),
    measurement: slice(bytes, 0x90, 48),
    /** The REPORT_ID: a number of the guest that the firmware makes up when it launches the guest. */
    guest: slice(bytes, 0x140, 32),
    /** The security versions that the report states, eight bytes. `committedTcb` and `currentTcb` have the same form. */
    reportedTcb: slice(bytes, 0x180, 8),
    committedTcb: slice(bytes, 0x1e0, 8),
    currentTcb: slice(bytes, 0x38, 8),
    chipId: slice(bytes, 0x1a0, 64),
    /** The name of the processor, such as `Milan`. Null for reports of version 2, which do not say. */
    product: version < 3 ? null : productOf(bytes[0x188] ?? 0, bytes[0x189] ?? 0),
  };
}

/** Returns the name of an AMD processor with a family and model, such as `Milan`. */
function productOf(family: number, model: number): string {
  if (family === 0x19 && model < 0x10) return 'Milan';
  if (family === 0x19 && ((model >= 0x10 && model < 0x20) || (model >= 0xa0 && model < 0xb0))) return 'Genoa';
  if (family === 0x1a && model < 0x20) return 'Turin';
  return `family ${family} model ${model}`;
}

export function snpTcb(version: Bytes): SnpTcb {
  const [bootloader = 0, tee = 0, , , , , snp = 0, microcode = 0] = version;
  return { bootloader, tee, snp, microcode };
}
