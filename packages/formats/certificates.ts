import { createHash, X509Certificate } from 'node:crypto';
import { derElements, fromBase64 } from './bytes.ts';
import { holdsPrivateKey } from './holds-private-key.ts';
import { InvalidKeyError, keyIn, whyWeak } from './public-key.ts';

const expected = 'Expected one X.509 certificate in PEM ("BEGIN CERTIFICATE").';

/**
 * Returns the fingerprint of a certificate: the SHA-256 of its DER in hex, which `openssl x509 -noout -fingerprint -sha256`
 * prints with colons.
 * @throws InvalidKeyError if the text is not exactly one certificate in PEM, or anyone could sign with the key of the certificate
 */
export function fingerprintOfCertificate(pem: string): string {
  const [, base64 = ''] = /^-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----$/.exec(pem.trim()) ?? [];
  const der = derIn(base64);
  const why = isCertificate(der) ? whyWeakCertificate(der) : ''; // defence
  if (holdsPrivateKey(pem)) throw new InvalidKeyError(`This contains a private key. Never share it. ${expected}`);
  if (why !== undefined) throw new InvalidKeyError(`${why} ${expected}`.trim());
  return createHash('sha256').update(der).digest('hex');
}

export function whyWeakCertificates(text: string): string | undefined {
  const certificates = text.matchAll(/-----BEGIN (?:[A-Z0-9]+ )?CERTIFICATE-----([^-]*)/g);
  return [...certificates].map(([, base64 = '']) => whyWeakCertificate(derIn(base64))).find(Boolean);
}

const derIn = (base64: string) => fromBase64(base64.replace(/\s/g, '')) ?? new Uint8Array();

/**
 * Says why anyone could sign with the key of a certificate, or that the certificate cannot be read. Undefined if its key is
 * sound. The key's place (RFC 5280, section 4.1) varies, because the version may be left out.
 */
function whyWeakCertificate(der: Uint8Array): string | undefined {
  const within = (element?: { content: Uint8Array }, most?: number) => derElements(element?.content ?? new Uint8Array(), most);
  const elements = within(within(derElements(der)[0])[0], 7);
  const found = elements[elements[0]?.tag === 0xa0 ? 6 : 5];
  const [algorithm, key] = within(found);
  const isKey = within(algorithm)[0]?.tag === 0x06 && key?.tag === 0x03;
  return isKey ? whyWeak(keyIn(found?.content)) : 'The certificate cannot be read: it is not the base64 of DER.';
}

/**
 * Returns whether bytes are the DER of a certificate and no more. OpenSSL ignores bytes after a certificate, so the bytes that it
 * has read are compared.
 */
function isCertificate(der: Uint8Array): boolean {
  try {
    return new X509Certificate(der).raw.equals(der);
  } catch {
    return false;
  }
}
