import { constants, createPublicKey, verify } from 'node:crypto';
import { canonicalDigest } from '../canonical-json.ts';

/** What limits an approval. Only what is given. */
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

/** Returns the text that a user signs to approve a manifest (docs/contract.md, section 9). */
export function approvalText({ domain, computationId, digest, limits }: Approved): string {
  const text = `computation-approval:v1:${domain}:${computationId}:${digest}`;
  return Object.keys(limits).length === 0 ? text : `${text}:${canonicalDigest(limits)}`;
}

/**
 * Returns whether a key made the signature of a text: Ed25519; ECDSA with SHA-256, in DER; RSA-PSS with SHA-256, MGF1 with
 * SHA-256 and a salt of 32 bytes.
 * @param key base64 of a DER SubjectPublicKeyInfo
 * @param signature base64
 */
export function isSignatureOf(text: string, key: string, signature: string): boolean {
  const publicKey = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });
  const [data, bytes] = [Buffer.from(text), Buffer.from(signature, 'base64')];
  switch (publicKey.asymmetricKeyType) {
    case 'ed25519':
      return verify(null, data, publicKey, bytes);
    case 'ec':
      return verify('sha256', data, { key: publicKey, dsaEncoding: 'der' }, bytes);
    case 'rsa':
      return verify('sha256', data, { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }, bytes);
    default:
      return false;
  }
}
