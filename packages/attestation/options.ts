import { type Bytes, demand, isEqual, isZero, sha, toHex } from './evidence-bytes.ts';
import type { TdxCollateral } from './tdx-collateral.ts';

/**
 * The value that evidence must contain as its report data, 64 bytes: the SHA-512 of a certificate's PEM file, byte for byte
 * (computed from `certificate`, or given as `certificateHash`), or a nonce of 32 to 64 bytes, filled up with zeros.
 */
export type Binding = { certificate: string | Uint8Array } | { certificateHash: Uint8Array } | { nonce: Uint8Array };

export interface VerifyOptions {
  /** The certificate or nonce that the evidence must be bound to. Null: there is none, so the check `report_data` fails. */
  boundTo: Binding | null;
  /** The time at which the certificates and Intel's collateral have to be valid. */
  now: Date;
  /** Certificates for SNP that the evidence lacks, such as a VCEK from AMD's key server. DER or PEM. */
  certificates?: readonly Uint8Array[];
  /** Intel's documents for TDX. The newest ones for the family of the machine are used. */
  collateral?: readonly TdxCollateral[];
  /** Called with the TDX collateral that is chosen for the machine, before it is verified. */
  onCollateral?: (collateral: TdxCollateral) => void;
}

/**
 * Root certificates to trust in place of those of AMD and Intel, in DER or PEM. Undefined: those of AMD and Intel. Only `test-roots.ts`
 * gives others.
 */
export type TestRoots = readonly Uint8Array[] | undefined;

/**
 * Returns the 64 bytes that evidence must contain as its report data to be bound to a certificate or nonce.
 * @throws RangeError if the nonce has fewer than 32 or more than 64 bytes, or only zeros
 */
async function expectedReportData(binding: Binding): Promise<Bytes> {
  if ('certificate' in binding) {
    const { certificate } = binding;
    return sha(512, typeof certificate === 'string' ? new TextEncoder().encode(certificate) : new Uint8Array(certificate));
  }
  if ('certificateHash' in binding) return new Uint8Array(binding.certificateHash);
  const { nonce } = binding;
  if (nonce.length < 32 || nonce.length > 64) throw new RangeError(`A nonce has 32 to 64 bytes, not ${nonce.length}.`);
  if (isZero(nonce)) throw new RangeError('A nonce of zeros is no nonce.');
  const data = new Uint8Array(64);
  data.set(nonce);
  return data;
}

export async function checkReportData(reportData: Bytes, boundTo: Binding | null): Promise<string> {
  demand(boundTo !== null, 'there is no certificate and no nonce to compare it with');
  const kind = 'nonce' in boundTo ? 'the nonce' : 'the hash of the certificate';
  const expected = await expectedReportData(boundTo);
  demand(isEqual(reportData, expected), `it is ${toHex(reportData)}, not ${kind}, ${toHex(expected)}`);
  return `it is ${kind}`;
}
