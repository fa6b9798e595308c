import { createPrivateKey } from 'node:crypto';
import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';

/** Larger files are no keys. */
export const largestKeyInBytes = 64 * 1024;

/** Of PKCS #7 data in a PKCS #12 file, which begins with the version 3. */
const pkcs12 = Buffer.from('06092a864886f70d0107', 'hex');

/** Whether a file is a private key: as PEM, DER, JSON Web Key, PKCS #12 or in the form of OpenSSH or PuTTY; also in base64 or hex. */
export function isPrivateKey(content: Buffer): boolean {
  const text = content.toString('latin1').replaceAll('\0', ''); // also of UTF-16
  const isJwk = /"kty"\s*:/.test(text) && /"[dk]"\s*:\s*"/.test(text);
  if (holdsPrivateKey(text) || isJwk || isDer(content)) return true;
  const packed = text.replaceAll(/\s/g, '');
  if (packed.length < 40) return false;
  if (/^[0-9a-f]+$/i.test(packed)) return isPrivateKey(Buffer.from(packed, 'hex'));
  return /^[\w+/-]+={0,2}$/.test(packed) && isPrivateKey(Buffer.from(packed, 'base64'));
}

function isDer(content: Buffer): boolean {
  if (content[0] !== 0x30) return false;
  if (content.subarray(0, 64).includes(pkcs12)) return true;
  return (['pkcs8', 'pkcs1', 'sec1'] as const).some((type) => {
    try {
      return createPrivateKey({ key: content, format: 'der', type }).type === 'private';
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'ERR_MISSING_PASSPHRASE';
    }
  });
}
