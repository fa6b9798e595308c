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
