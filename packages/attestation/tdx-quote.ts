import {
  type Bytes,
  concatenate,
  demand,
  isEqual,
  bytesOfHex,
  isZero,
  littleEndian,
  reader,
  slice,
  toHex,
} from './evidence-bytes.ts';
import { parseCertificates } from './certificates.ts';

export type TdxQuote = ReturnType<typeof parseTdxQuote>;

const headerSize = 48;
const intelVendor = '939a7233f79c4ca9940a0db3957f0607';
const enclaveReportSize = 384;

// The offsets and sizes are those of Intel's "TDX DCAP Quoting Library API", appendix A.3 (quotes of version 4) and A.4 (version 5).
// Names in capitals are the fields of that document. Numbers are little-endian.

/**
 * Reads the fields of a TDX quote of version 4 or 5.
 * @throws Refusal if the quote is malformed, or is not of TDX
 */
export function parseTdxQuote(bytes: Bytes) {
  // A.3.1, the header of 48 bytes: version, attestation key type, TEE type, 4 reserved bytes, QE vendor ID, user data.
  const version = littleEndian(bytes, 0, 2);
  demand(version === 4 || version === 5, `its version ${version} is not 4 or 5`);
  demand(littleEndian(bytes, 2, 2) === 2, 'its attestation key is not ECDSA with P-256');
  demand(littleEndian(bytes, 4, 4) === 0x81, 'it is not of TDX');
  demand(toHex(slice(bytes, 12, 16)) === intelVendor, 'its quoting enclave is not from Intel');
  const quote = reader(bytes, headerSize);
  // A.4: version 5 has type and size of the body before it. Type 2 is the body of TDX 1.0, type 3 that of TDX 1.5.
  const type = version === 4 ? 2 : quote.number(2);
  const size = version === 4 ? 584 : quote.number(4);
  demand((type === 2 && size === 584) || (type === 3 && size === 648), `its body of type ${type} and ${size} bytes is unknown`);
  const body = quote.take(size);
  const signedBytes = bytes.slice(0, quote.at());
  // A.3.8, the signature data: signature, attestation key, certification data.
  const signatureSize = quote.number(4);
  const data = reader(quote.take(signatureSize));
  demand(isZero(bytes.subarray(quote.at())), 'something follows its signature');
  const signature = data.take(64);
  const attestationKey = concatenate(Uint8Array.of(4), data.take(64));
  // A.3.9, certification data of type 6 (A.3.11): the report of the quoting enclave, its signature, A.3.7 its authentication data,
  // and certification data again, of type 5: the certificates of the platform.
  demand(data.number(2) === 6, 'its certification data is not the report of a quoting enclave');
  demand(data.number(4) === signatureSize - data.at(), 'its certification data does not end with its signature');
  const enclave = {
    bytes: data.take(enclaveReportSize),
    signature: data.take(64),
    authenticationData: data.take(data.number(2)),
  };
  demand(data.number(2) === 5, 'it does not contain the certificate of its platform');
  const certificateSize = data.number(4);
  demand(certificateSize === signatureSize - data.at(), 'its certificates do not end with its signature');
  // A.3.2, the body.
  return {
    version,
    signedBytes,
    signature,
    attestationKey,
    enclave,
    certificates: parseCertificates(data.take(certificateSize)),
    /** TEE_TCB_SVN (A.3.3): the security versions of the TDX module and its parts. */
    teeTcbSvn: slice(body, 0, 16),
    /** MRSIGNERSEAM: the signer of the TDX module. */
    moduleSigner: slice(body, 64, 48),
    /** SEAMATTRIBUTES: the attributes of the TDX module. */
    moduleAttributes: slice(body, 112, 8),
    /** TDATTRIBUTES (A.3.4): the attributes of the guest. */
    attributes: slice(body, 120, 8),
    /** The measurement registers of the guest, 48 bytes each: MRTD, RTMR0, RTMR1, RTMR2, RTMR3. */
    registers: [136, 328, 376, 424, 472].map((at) => slice(body, at, 48)),
    /** MRSERVICETD of TDX 1.5: the measurement of the guest's migration service, 48 bytes. All zeros if the guest has none. */
    migrationService: type === 2 ? new Uint8Array(48) : slice(body, 600, 48),
    /** REPORTDATA: what the guest gave with its request. */
    reportData: slice(body, 520, 64),
  };
}

/** Reads the report of an SGX quoting enclave (A.3.10): the enclave's identity and its report data. */
export function parseEnclaveReport(bytes: Bytes) {
  return {
    miscSelect: slice(bytes, 16, 4), // MISCSELECT
    attributes: slice(bytes, 48, 16), // ATTRIBUTES
    signer: slice(bytes, 128, 32), // MRSIGNER
    product: littleEndian(bytes, 256, 2), // ISVPRODID
    version: littleEndian(bytes, 258, 2), // ISVSVN
    reportData: slice(bytes, 320, 64), // REPORTDATA
  };
}

/**
 * Returns whether bytes equal an expected value in those bits that a mask selects. Value and mask are in hex, as Intel publishes
 * them.
 * @throws Refusal if value or mask is not hexadecimal
 */
export function equalUnderMask(bytes: Bytes, expected: string, mask: string): boolean {
  const bits = bytesOfHex(mask, 'a mask');
  const masked = (of: Bytes) => of.map((byte, at) => byte & (bits[at] ?? 0xff));
  return bits.length === bytes.length && isEqual(masked(bytes), masked(bytesOfHex(expected, 'an expected value')));
}
