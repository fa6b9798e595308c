import { createHash, X509Certificate } from 'node:crypto';
import { invalid } from '../errors.ts';
import { holdsPrivateKey } from '../holds-private-key.ts';

const expected = 'Expected one X.509 certificate in PEM ("BEGIN CERTIFICATE").';

/**
 * Returns the SHA-256 of a certificate's DER in hex, as `openssl x509 -noout -fingerprint -sha256` prints it with colons.
 * @param pem one certificate, without other text
 * @throws ServiceError `invalid_request` at `/certificate`, with a message of its own for a private key
 */
export function certificateFingerprint(pem: string): string {
  if (holdsPrivateKey(pem)) {
    throw invalid('/certificate', `This contains a private key. Never share it. ${expected}`);
  }
  const [, base64 = ''] = /^-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----$/.exec(pem.trim()) ?? [];
  const der = Buffer.from(base64, 'base64');
  if (!isCertificate(der)) throw invalid('/certificate', expected);
  return createHash('sha256').update(der).digest('hex');
}

/** Compares the bytes, because OpenSSL ignores those after a certificate. */
function isCertificate(der: Buffer): boolean {
  try {
    return new X509Certificate(der).raw.equals(der);
  } catch {
    return false;
  }
}
