import { constants, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { canonicalDigest } from './canonical-json.ts';

export interface Limits {
  cvm_ids?: string[];
  expires_at?: string;
}

interface Approved {
  domain: string;
  computationId: string;
  /** The digest of the manifest. */
  digest: string;
  limits: Limits;
}

export function limitsOf({ cvm_ids, expires_at }: { [name in keyof Limits]?: Limits[name] | null | undefined }): Limits {
  return { ...(cvm_ids ? { cvm_ids } : {}), ...(expires_at ? { expires_at } : {}) };
}

/** Returns the text that a user signs to approve a manifest (docs/contract.md, section 9). */
export function approvalText({ domain, computationId, digest, limits }: Approved): string {
  const text = `computation-approval:v1:${domain}:${computationId}:${digest}`;
  return Object.keys(limits).length === 0 ? text : `${text}:${canonicalDigest(limits)}`;
}

interface Signed {
  text: string;
  /** Base64 of a DER SubjectPublicKeyInfo. */
  key: string;
  /** Base64. */
  signature: string;
}

/**
 * Returns whether a key made the signature of a text: Ed25519; ECDSA with SHA-256, in DER; RSA-PSS with SHA-256, MGF1 with
 * SHA-256 and a salt of 32 bytes. Returns false if the key is none of these.
 */
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
