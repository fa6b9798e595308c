import { sha256 } from '@noble/hashes/sha2.js';
import { sshWireOf } from 'computation-management-formats/ssh-wire';

/** Returns the fingerprint of a key in a manifest, as `ssh-keygen -lf` prints it, or the text itself if it is no key. */
export function fingerprintOf(key: string): string {
  if (!/^M[A-Za-z0-9+/]+={0,2}$/.test(key)) return key;
  const wire = sshWireOf(Uint8Array.from(atob(key), (character) => character.charCodeAt(0)));
  return `SHA256:${btoa(String.fromCharCode(...sha256(wire))).replace(/=+$/, '')}`;
}
