import * as v from 'valibot';
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { Kms } from '../runtime/clients.ts';
import { environment } from '../runtime/environment.ts';
import { type Item, type Table, getItem } from '../table/table.ts';
import { secretKeys } from '../table/keys.ts';
import { putItemIf } from '../table/writes.ts';

/** A secret key as it is stored: encrypted, with a digest by which changes of the key are noticed. */
export interface StoredKey {
  /** The SHA-256 of the key in plain text, base64url. */
  digest: string;
  /** The encrypted key, as `sealKey` returns it, base64. */
  sealed: string;
}

const sealedAttributes = v.object({ sealed_key: v.string(), key_digest: v.string() });

/**
 * The owner of a secret key: the private key of an agent to a computation, the key of a file to an asset, a secret of the service to its name. A key opens only for what it was
 * encrypted for. KMS logs the identifier in plain text.
 */
export type OwnerOfKey = { computation: string } | { asset: string } | { secret: string };

/** A secret key and what it is encrypted for: the arguments of `SealKey`. They have names so that nobody swaps them. */
export interface KeyToSeal {
  owner: OwnerOfKey;
  plain: string;
}

/** Encrypts a secret key. Returns '' if the key is ''. */
export type SealKey = (given: KeyToSeal) => Promise<StoredKey | ''>;

/** Returns the SHA-256 of a secret key, base64url, by which changes of the key are noticed. */
export function digestOfKey(plain: string): string {
  return createHash('sha256').update(plain).digest('base64url');
}

/** Returns the attributes with which an encrypted key is stored. */
export function sealedKeyAttributes({ sealed, digest }: StoredKey): v.InferOutput<typeof sealedAttributes> {
  return { sealed_key: sealed, key_digest: digest };
}

/** Returns the encrypted key that is in a stored item, or '' if the item has none. */
export function storedKeyOf(item: Item | undefined): StoredKey | '' {
  if (item?.['sealed_key'] === undefined) return '';
  const { sealed_key, key_digest } = v.parse(sealedAttributes, item);
  return { digest: key_digest, sealed: sealed_key };
}

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts bytes by AES-256-GCM, bound to a context. @returns the nonce, the tag and the encrypted bytes
 * @param context the bytes without which nobody decrypts the others. Default: none
 */
export function encrypt(key: Uint8Array, plain: Uint8Array, context: Uint8Array = new Uint8Array()): Buffer {
  const nonce = randomBytes(nonceBytes);
  const encryption = createCipheriv(cipher, key, nonce).setAAD(context);
  const text = Buffer.concat([encryption.update(plain), encryption.final()]);
  return Buffer.concat([nonce, encryption.getAuthTag(), text]);
}

/** Decrypts what `encrypt` has returned. @throws Error if the key or the context is another one */
export function decrypt(key: Uint8Array, encrypted: Uint8Array, context: Uint8Array = new Uint8Array()): Buffer {
  const textAt = nonceBytes + tagBytes;
  const decryption = createDecipheriv(cipher, key, encrypted.subarray(0, nonceBytes)).setAAD(context);
  decryption.setAuthTag(encrypted.subarray(nonceBytes, textAt));
  return Buffer.concat([decryption.update(encrypted.subarray(textAt)), decryption.final()]);
}

/**
 * The bytes before an encrypted data key, which have its length, big-endian. An encrypted key is base64 of them, of the encrypted data
 * key, and of what `encrypt` returns. KMS binds the data key to the owner.
 */
const lengthBytes = 2;

/** Encrypts a secret key with a data key that KMS makes in one call. Returns '' without a call if the key is ''. */
export async function sealKey(kms: Kms, { owner, plain }: KeyToSeal): Promise<StoredKey | ''> {
  if (plain === '') return '';
  const dataKey = await kms.newDataKey(environment().SEALING_KEY_ARN, { ...owner });
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt16BE(dataKey.encrypted.length);
  const sealed = Buffer.concat([length, dataKey.encrypted, encrypt(dataKey.plain, Buffer.from(plain))]).toString('base64');
  return { digest: digestOfKey(plain), sealed };
}

/**
 * Decrypts a secret key with one call of KMS. Returns '' without a call if there is none.
 * @throws Error if the key was encrypted for another owner
 */
export async function openKey(kms: Kms, owner: OwnerOfKey, kept: StoredKey | ''): Promise<string> {
  if (kept === '') return '';
  const bytes = Buffer.from(kept.sealed, 'base64');
  const textAt = lengthBytes + bytes.readUInt16BE();
  const encrypted = bytes.subarray(lengthBytes, textAt);
  const dataKey = await kms.openDataKey(environment().SEALING_KEY_ARN, encrypted, { ...owner });
  return decrypt(dataKey, bytes.subarray(textAt)).toString();
}

/** The secrets that the service makes for itself: by the first it knows its nonces, by the second its links to unsubscribe. */
export type SecretName = 'challenges' | 'unsubscribe';

let known: { of: Table['document']; secrets: Map<SecretName, Buffer> } | undefined;

/** Reads a secret of the service, 32 bytes. The first call of a process reads it, the very first makes it. */
export async function readServiceSecret(table: Table, kms: Kms, name: SecretName): Promise<Buffer> {
  if (known?.of !== table.document) known = { of: table.document, secrets: new Map() };
  const { secrets } = known;
  const before = secrets.get(name);
  if (before) return before;
  const owner = { secret: name };
  const key = secretKeys.secret(name);
  let stored = storedKeyOf(await getItem(table, key));
  if (stored === '') {
    const made = await sealKey(kms, { owner, plain: randomBytes(32).toString('base64') });
    if (made === '') throw new Error('A secret of 32 bytes was not encrypted.');
    await putItemIf(table, { ...key, ...sealedKeyAttributes(made) }, { ConditionExpression: 'attribute_not_exists(pk)' });
    stored = storedKeyOf(await getItem(table, key));
  }
  const secret = Buffer.from(await openKey(kms, owner, stored), 'base64');
  if (secret.length !== 32) throw new Error(`The secret ${name} of the service is not stored.`);
  secrets.set(name, secret);
  return secret;
}
