import { fromBase64 } from 'computation-management-formats/bytes';
import { fingerprintOfSpki } from 'computation-management-formats/ssh-wire';

/** Returns the fingerprint of a key in a manifest, or the text itself if it is no key. */
export function fingerprintOf(key: string): string {
  const spki = key.startsWith('M') ? fromBase64(key) : undefined;
  return spki ? fingerprintOfSpki(spki) : key;
}
