import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Item } from '../table/table.ts';

/** A private key of an agent as it is stored: sealed, or in plain text by an earlier version. */
export interface StoredKey {
  /** SHA-256 of the plain text, base64url. Tells whether two keys are the same without opening them. */
  digest: string;
  /** See sealed-key.ts. */
  sealed?: string;
  plain?: string;
}

/** The attributes of an item with a sealed key. Earlier versions do not know them, and find no key. */
const sealedAttributes = v.object({ sealed_key: v.string(), key_digest: v.string() });

/** By name, because KMS binds the seal to the computation, and logs its identifier in plain text. */
export interface KeyToSeal {
  computationId: string;
  plain: string;
}

/** Seals a private key for storage in a computation. No key: ''. */
export type SealKey = (given: KeyToSeal) => Promise<StoredKey | ''>;

export function digestOfKey(plain: string): string {
  return createHash('sha256').update(plain).digest('base64url');
}

/** Returns a key that an earlier version stored in plain text. */
export function storedInPlainText(plain: string): StoredKey {
  return { digest: digestOfKey(plain), plain };
}

/** Returns the attributes that store a key, sealed if it is. */
export function keyAttributes(key: StoredKey): Item {
  return key.plain === undefined ? sealedKeyAttributes(key) : { server_key: key.plain };
}

/** Returns the attributes that store a sealed key. */
export function sealedKeyAttributes({ sealed, digest }: StoredKey): v.InferOutput<typeof sealedAttributes> {
  if (sealed === undefined) throw new TypeError('A key is sealed before it is stored.');
  return { sealed_key: sealed, key_digest: digest };
}

/** Reads the key of an item. @param plain what the item has in place of a sealed key. @throws Error if it is invalid */
export function storedKeyOf(item: Item | undefined, plain: unknown): StoredKey | '' {
  if (item && 'sealed_key' in item) {
    const { sealed_key, key_digest } = v.parse(sealedAttributes, item);
    return { digest: key_digest, sealed: sealed_key };
  }
  const text = v.parse(v.optional(v.string(), ''), plain);
  return text === '' ? '' : storedInPlainText(text);
}
