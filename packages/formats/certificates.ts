import { createHash, X509Certificate } from 'node:crypto';
import { derElements } from './der.ts';
import { holdsPrivateKey } from './holds-private-key.ts';
import { InvalidKeyError, keyIn, whyWeak } from './public-key.ts';

const expected = 'Expected one X.509 certificate in PEM ("BEGIN CERTIFICATE").';

/**
 * Of the DER, hex, as `openssl x509 -noout -fingerprint -sha256` prints it with colons.
 * @throws InvalidKeyError if a text is not exactly one certificate in PEM, or anyone could sign with its key
 */
export function fingerprintOfCertificate(pem: string): string {
  const [, base64 = ''] = /^-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----$/.exec(pem.trim()) ?? [];
  const der = Buffer.from(base64, 'base64');
  const why = holdsPrivateKey(pem) ? 'This contains a private key. Never share it.' : whyWeak(keyOf(der));
  if (why !== undefined || !isCertificate(der)) throw new InvalidKeyError(why === undefined ? expected : `${why} ${expected}`);
  return createHash('sha256').update(der).digest('hex');
}

export function whyWeakCertificates(text: string): string | undefined {
  const certificates = text.matchAll(/-----BEGIN (?:[A-Z0-9]+ )?CERTIFICATE-----([^-]*)/g);
  return [...certificates].map(([, base64 = '']) => whyWeak(keyOf(Buffer.from(base64, 'base64')))).find(Boolean);
}

/** RFC 5280, section 4.1. The version may be left out, so that the place of the key varies. */
function keyOf(der: Buffer) {
  const [toBeSigned] = derElements(derElements(der)[0]?.content ?? Buffer.alloc(0));
  const elements = derElements(toBeSigned?.content ?? Buffer.alloc(0), 7);
  return keyIn(elements[elements[0]?.tag === 0xa0 ? 6 : 5]?.content);
}

/** Compares the bytes, because OpenSSL ignores those after a certificate. */
function isCertificate(der: Buffer): boolean {
  try {
    return new X509Certificate(der).raw.equals(der);
  } catch {
    return false;
  }
}
