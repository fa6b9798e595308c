import { constants, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { canonicalDigest } from '../shared/canonical-json.ts';

/** What the signature of an approval covers. */
export interface SignedApproval {
  domain: string;
  computation: string;
  digest: string;
  cvm_ids: string[] | null;
  expires_at: string | null;
}

/** Returns the text that a user signs to approve a manifest (docs/contract.md, section 9). */
export function approvalText({ domain, computation, digest, cvm_ids, expires_at }: SignedApproval): string {
  const limits = { ...(cvm_ids === null ? {} : { cvm_ids }), ...(expires_at === null ? {} : { expires_at }) };
  const text = `computation-approval:v1:${domain}:${computation}:${digest}`;
  return Object.keys(limits).length === 0 ? text : `${text}:${canonicalDigest(limits)}`;
}

/** @param signature base64 @param key base64 of a DER SubjectPublicKeyInfo */
export function verifiesApproval(approval: SignedApproval, signature: string, key: string): boolean {
  try {
    const publicKey = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });
    return verifies(publicKey, Buffer.from(approvalText(approval)), Buffer.from(signature, 'base64'));
  } catch {
    return false; // not a key, or of a type that signs in no known way
  }
}

function verifies(key: KeyObject, text: Buffer, signature: Buffer): boolean {
  if (key.asymmetricKeyType === 'ed25519') return verify(null, text, key, signature);
  if (key.asymmetricKeyType === 'ec') return verify('sha256', text, { key, dsaEncoding: 'der' }, signature);
  return verify('sha256', text, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }, signature);
}
