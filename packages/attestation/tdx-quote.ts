import { type Bytes, concatenate, demand, isEqual, bytesOfHex, isZero, littleEndian, slice, toHex } from './evidence-bytes.ts';
import { parseCertificates } from './certificates.ts';

export type TdxQuote = ReturnType<typeof parseTdxQuote>;

const headerSize = 48;
const intelVendor = '939a7233f79c4ca9940a0db3957f0607';
const enclaveReportSize = 384;

class Reader {
  readonly bytes: Bytes;
  at: number;

  constructor(bytes: Bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  take(length: number): Bytes {
    this.at += length;
    return slice(this.bytes, this.at - length, length);
  }

  number(length: number): number {
    return littleEndian(this.take(length), 0, length);
  }
}

/**
 * Reads the fields of a TDX quote (Intel TDX DCAP quoting library, appendix A.3 and A.4).
 * @throws Refusal if the quote is malformed, or is not of TDX
 */
export function parseTdxQuote(bytes: Bytes) {
  const version = littleEndian(bytes, 0, 2);
  demand(version === 4 || version === 5, `its version ${version} is not 4 or 5`);
  demand(littleEndian(bytes, 2, 2) === 2, 'its attestation key is not ECDSA with P-256');
  demand(littleEndian(bytes, 4, 4) === 0x81, 'it is not of TDX');
  demand(toHex(slice(bytes, 12, 16)) === intelVendor, 'its quoting enclave is not from Intel');
  const reader = new Reader(bytes, headerSize);
  const type = version === 4 ? 2 : reader.number(2);
  const size = version === 4 ? 584 : reader.number(4);
  demand((type === 2 && size === 584) || (type === 3 && size === 648), `its body of type ${type} and ${size} bytes is unknown`);
  const body = reader.take(size);
  const signedBytes = bytes.slice(0, reader.at);
  const signatureSize = reader.number(4);
  const data = new Reader(reader.take(signatureSize));
  demand(isZero(bytes.subarray(reader.at)), 'something follows its signature');
  const signature = data.take(64);
  const attestationKey = concatenate(Uint8Array.of(4), data.take(64));
  demand(data.number(2) === 6, 'its certification data is not the report of a quoting enclave');
  demand(data.number(4) === signatureSize - data.at, 'its certification data does not end with its signature');
  const enclave = {
    bytes: data.take(enclaveReportSize),
    signature: data.take(64),
    authenticationData: data.take(data.number(2)),
  };
  demand(data.number(2) === 5, 'it does not contain the certificate of its platform');
  const certificateSize = data.number(4);
  demand(certificateSize === signatureSize - data.at, 'its certificates do not end with its signature');
  return {
    version,
    signedBytes,
    signature,
    attestationKey,
    enclave,
    certificates: parseCertificates(data.take(certificateSize)),
    teeTcbSvn: slice(body, 0, 16),
    moduleSigner: slice(body, 64, 48),
    moduleAttributes: slice(body, 112, 8),
    attributes: slice(body, 120, 8),
    /** The measurement registers of the guest, 48 bytes each: MRTD, RTMR0, RTMR1, RTMR2, RTMR3. */
    registers: [136, 328, 376, 424, 472].map((at) => slice(body, at, 48)),
    /** The measurement of the guest's migration service, 48 bytes. All zeros if the guest has no migration service. */
    migrationService: type === 2 ? new Uint8Array(48) : slice(body, 600, 48),
    reportData: slice(body, 520, 64),
  };
}

/** Reads the report of an SGX quoting enclave: the enclave's identity and its report data. */
export function parseEnclaveReport(bytes: Bytes) {
  return {
    miscSelect: slice(bytes, 16, 4),
    attributes: slice(bytes, 48, 16),
    signer: slice(bytes, 128, 32),
    product: littleEndian(bytes, 256, 2),
    version: littleEndian(bytes, 258, 2),
    reportData: slice(bytes, 320, 64),
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
