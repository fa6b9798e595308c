import { digestOfKey, type StoredKey } from '../../shared/rows/sealed-key.ts';

/** A private key as it is stored, with a seal that no KMS made. */
export function sealedAs(plain: string): StoredKey {
  return { digest: digestOfKey(plain), sealed: `seal of ${plain}` };
}
