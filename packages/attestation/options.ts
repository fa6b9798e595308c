import { type Bytes, demand, isEqual, isZero, sha, toHex } from './evidence-bytes.ts';
import type { TdxCollateral } from './tdx-collateral.ts';

/**
 * A thing that evidence must be bound to: the certificate of an agent, its PEM file byte for byte, or a nonce of 32 to 64 bytes. `boundValues` has
 * the values that evidence contains for it.
 */
export type Binding = { certificate: string | Uint8Array } | { nonce: Uint8Array };

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

/** The detail of a check that fails because no certificate and no nonce was given to compare evidence with. */
export const nothingToCompare = 'there is no certificate and no nonce to compare it with';

/**
 * Returns the values that evidence contains if it is bound to a certificate or nonce: 64 bytes of report data, and the nonce of the quote of
 * a TPM. Of a certificate, these are its SHA-512 and its SHA-256; of a nonce, itself with zeros at the end.
 * @throws Refusal if there is nothing to compare with; RangeError if the nonce has fewer than 32 or more than 64 bytes, or only zeros
 */
export async function boundValues(boundTo: Binding | null): Promise<{ what: string; reportData: Bytes; quoteNonce: Bytes }> {
  demand(boundTo !== null, nothingToCompare);
  if ('certificate' in boundTo) {
    const { certificate } = boundTo;
    const pem = typeof certificate === 'string' ? new TextEncoder().encode(certificate) : new Uint8Array(certificate);
    return { what: 'the hash of the certificate', reportData: await sha(512, pem), quoteNonce: await sha(256, pem) };
  }
  const { nonce } = boundTo;
  if (nonce.length < 32 || nonce.length > 64) throw new RangeError(`A nonce has 32 to 64 bytes, not ${nonce.length}.`);
  if (isZero(nonce)) throw new RangeError('A nonce of zeros is no nonce.');
  const data = new Uint8Array(64);
  data.set(nonce);
  return { what: 'the nonce', reportData: data, quoteNonce: data };
}

export async function checkReportData(reportData: Bytes, boundTo: Binding | null): Promise<string> {
  const { what, reportData: expected } = await boundValues(boundTo);
  demand(isEqual(reportData, expected), `it is ${toHex(reportData)}, not ${what}, ${toHex(expected)}`);
  return `it is ${what}`;
}
