import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { environment } from '../runtime/environment.ts';
import type { Kms } from '../runtime/kms.ts';
import { digestOfKey, type KeyToSeal, type StoredKey } from './agent-config.ts';

/**
 * A sealed key: base64 of the length of the encrypted data key (2 bytes, big-endian), that key, the nonce, the tag, and the text by
 * AES-256-GCM. KMS binds the data key to the computation, so that a seal does not open in another one.
 */
const cipher = 'aes-256-gcm';
const lengthBytes = 2;
const nonceBytes = 12;
const tagBytes = 16;

/** One call of KMS, none without a key. */
export async function sealKey(kms: Kms, { computationId, plain }: KeyToSeal): Promise<StoredKey | ''> {
  if (plain === '') return '';
  const dataKey = await kms.newDataKey(environment().SEALING_KEY_ARN, contextOf(computationId));
  const nonce = randomBytes(nonceBytes);
  const encryption = createCipheriv(cipher, dataKey.plain, nonce);
  const text = Buffer.concat([encryption.update(plain, 'utf8'), encryption.final()]);
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt16BE(dataKey.encrypted.length);
  const sealed = Buffer.concat([length, dataKey.encrypted, nonce, encryption.getAuthTag(), text]).toString('base64');
  return { digest: digestOfKey(plain), sealed };
}

/** One call of KMS, none without a key. @throws Error if the key was sealed for another computation */
export async function openKey(kms: Kms, computationId: string, kept: StoredKey | ''): Promise<string> {
  if (kept === '') return '';
  const bytes = Buffer.from(kept.sealed, 'base64');
  const nonceAt = lengthBytes + bytes.readUInt16BE();
  const tagAt = nonceAt + nonceBytes;
  const textAt = tagAt + tagBytes;
  const encrypted = bytes.subarray(lengthBytes, nonceAt);
  const dataKey = await kms.openDataKey(environment().SEALING_KEY_ARN, encrypted, contextOf(computationId));
  const decryption = createDecipheriv(cipher, dataKey, bytes.subarray(nonceAt, tagAt));
  decryption.setAuthTag(bytes.subarray(tagAt, textAt));
  return Buffer.concat([decryption.update(bytes.subarray(textAt)), decryption.final()]).toString('utf8');
}

function contextOf(computation: string): Record<string, string> {
  return { computation };
}
