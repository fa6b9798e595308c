import { constants, createPublicKey, verify, type KeyObject } from 'node:crypto';

interface Signed {
  text: string;
  key: string;
  /** Base64. */
  signature: string;
}

/** Ed25519; ECDSA with SHA-256, in DER; RSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes. False for other keys. */
export function isSignatureOf({ text, key, signature }: Signed): boolean {
  try {
    const publicKey = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });
    return verifies(publicKey, Buffer.from(text), Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}

function verifies(key: KeyObject, text: Buffer, signature: Buffer): boolean {
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return verify(null, text, key, signature);
    case 'ec':
      return verify('sha256', text, { key, dsaEncoding: 'der' }, signature);
    case 'rsa':
      return verify('sha256', text, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }, signature);
    default:
      return false;
  }
}
