import { createHash } from 'node:crypto';
import { toBase64Url } from 'computation-management-formats/bytes';
import { joinedSignature } from 'computation-management-formats/der';
import { verifiesEs256 } from 'computation-management-formats/es256';
import { environment } from '../runtime/environment.ts';
import type { Kms } from '../runtime/kms.ts';
import { type PublicJwk, publicJwkOf } from './es256.ts';

export interface Signature {
  /** r and s, base64url. */
  signature: string;
  key_id: string;
}

/** ES256. At most two calls of KMS. */
export async function sign(kms: Kms, text: string): Promise<Signature> {
  const KeyId = environment().SIGNING_KEY_ARN;
  const publicKey = await readPublicKey(kms, KeyId);
  const der = await kms.sign(KeyId, createHash('sha256').update(text).digest());
  const signature = toBase64Url(joinedSignature(der));
  // The statement never changes once it is stored, so a signature that nobody could verify must not get there.
  if (!(await verifiesEs256(text, signature, publicKey))) throw new Error('KMS returned a signature that does not verify.');
  return { signature, key_id: publicKey.kid };
}

/** With all keys that signed before. */
export async function readPublishedKeys(kms: Kms): Promise<PublicJwk[]> {
  const arns = environment().PUBLISHED_KEY_ARNS.split(',');
  return await Promise.all(arns.map((arn) => readPublicKey(kms, arn)));
}

/** The public key of a key in KMS never changes. */
const known = new Map<string, PublicJwk>();

async function readPublicKey(kms: Kms, KeyId: string): Promise<PublicJwk> {
  const before = known.get(KeyId);
  if (before) return before;
  const read = publicJwkOf(await kms.publicKey(KeyId));
  known.set(KeyId, read);
  return read;
}
