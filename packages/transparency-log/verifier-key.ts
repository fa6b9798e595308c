import { sha256 } from '@noble/hashes/sha2.js';
import { type Bytes, fromBase64, toBase64, toHex } from 'computation-management-formats/bytes';
import { MalformedError } from './malformed-error.ts';

/** The types of signatures by their byte (C2SP signed-note): of a log, and of a witness (tlog-cosignature). */
const types = { ed25519: 1, cosignature: 4 } as const;
type SignatureType = keyof typeof types;

/** A public key that verifies the signatures of a name. */
export interface VerifierKey {
  name: string;
  /** The first four bytes of the key's hash, in hex. */
  id: string;
  type: SignatureType;
  /** The public key of Ed25519, 32 bytes. */
  publicKey: Bytes;
}

/** Returns the text form of a verifier key, its `vkey` (C2SP signed-note). @throws MalformedError if the name cannot sign notes */
export function vkeyOf(name: string, publicKey: Uint8Array, type: SignatureType = 'ed25519'): string {
  if (!isKeyName(name))
    throw new MalformedError('Expected the name of a key: not empty, without spaces, + and control characters.');
  const typed = Uint8Array.of(types[type], ...publicKey);
  return `${name}+${toHex(sha256(Uint8Array.of(...new TextEncoder().encode(`${name}\n`), ...typed)).subarray(0, 4))}+${toBase64(typed)}`;
}

/** Parses a `vkey` of Ed25519, of a log or a witness. @throws MalformedError if the text is none, or its parts do not belong together */
export function parseVkey(vkey: string): VerifierKey {
  const [, name = '', id = '', base64 = ''] = /^([^+]+)\+([0-9a-f]{8})\+([^]+)$/.exec(vkey) ?? [];
  const typed = fromBase64(base64);
  const type = (Object.keys(types) as SignatureType[]).find((each) => types[each] === typed?.[0]);
  if (typed?.length !== 33 || !type) {
    throw new MalformedError(
      'Expected a vkey of Ed25519: the name, the identifier in hex and the key in base64, with + between them.',
    );
  }
  const publicKey = typed.subarray(1);
  if (vkeyOf(name, publicKey, type) !== vkey)
    throw new MalformedError(`The identifier ${id} of the vkey is not that of its key.`);
  return { name, id, type, publicKey };
}

/** Returns whether a text is the `vkey` of a witness. */
export function isWitnessVkey(text: string): boolean {
  try {
    return parseVkey(text).type === 'cosignature';
  } catch {
    return false;
  }
}

/** Returns whether a name may be that of a key: not empty, and without Unicode spaces, + and control characters. */
export const isKeyName = (name: string) => /^[^\p{White_Space}+\p{Cc}]+$/u.test(name) && name.isWellFormed();
