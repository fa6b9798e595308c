import { type Bytes, fromBase64, fromHex, toBase64, toHex } from 'computation-management-formats/bytes';
import { MalformedError } from './malformed-error.ts';
import { sha256 } from '@noble/hashes/sha2.js';

/** The most signatures that a note may have here. The specification demands at least 16. */
const mostSignatures = 64;

interface NoteSignature {
  name: string;
  /** The identifier of the key, 8 hex digits. */
  id: string;
  bytes: Bytes;
}

/** A signature of a note that a known key has made. */
export interface VerifiedSignature {
  vkey: string;
  name: string;
  /** The time of a cosignature by a witness, in seconds since 1970. Undefined for the signature of a log. */
  time?: number;
}

/** A signer of notes: a verifier key, and the function that makes the Ed25519 signatures of 64 bytes which it verifies. */
export interface Signer {
  vkey: string;
  sign: (message: Bytes) => Promise<Uint8Array> | Uint8Array;
}

/** A note of which a known key has signed the text. */
export interface OpenedNote {
  /** The text that is signed, with its last newline. */
  text: string;
  /** The signatures by known keys, at least one. */
  signatures: VerifiedSignature[];
}

/**
 * Signs a text as a note (C2SP signed-note).
 * @param time seconds since 1970, which the signature of a witness contains
 * @throws MalformedError if the text does not end with a newline or has control characters
 */
export async function signNote(text: string, signer: Signer, time = 0): Promise<string> {
  if (!isNoteText(text)) throw new MalformedError('Expected a text that ends with a newline, without other control characters.');
  const { name, id, type } = parseVkey(signer.vkey);
  const signature = await signer.sign(messageOf(text, type, time));
  const stamp = type === 'cosignature' ? fromHex(time.toString(16).padStart(16, '0')) : [];
  return `${text}\n${lineOf(name, Uint8Array.of(...fromHex(id), ...stamp, ...signature))}`;
}

/** Adds the signatures of a note, or signature lines alone, to a note of the same text. Those that it has already are left out. */
export function addSignatures(note: string, lines: string): string {
  const { text, signatures } = parseNote(note);
  const known = new Set(signatures.map(({ name, bytes }) => lineOf(name, bytes)));
  const added = parseNote(lines.startsWith('\u2014') ? `${text}\n${lines}` : lines);
  if (added.text !== text) throw new MalformedError('The signatures are those of a note with another text.');
  const given = new Set(added.signatures.map(({ name, bytes }) => lineOf(name, bytes)));
  return note + [...given].filter((line) => !known.has(line)).join('');
}

/** Parses a signed note, and verifies nothing. @throws MalformedError if it is none */
export function parseNote(note: string): { text: string; signatures: NoteSignature[] } {
  const at = note.lastIndexOf('\n\n');
  const text = note.slice(0, at + 1);
  const lines = note.slice(at + 2).split('\n');
  if (at < 0 || !isNoteText(text) || lines.pop() !== '' || lines.length === 0 || lines.length > mostSignatures) {
    throw new MalformedError(`Expected a signed note: a text, an empty line, and up to ${mostSignatures} lines with signatures.`);
  }
  return { text, signatures: lines.map(signatureIn) };
}

function signatureIn(line: string): NoteSignature {
  const [, name = '', base64 = ''] = /^\u2014 (\S+) (\S+)$/u.exec(line) ?? [];
  const bytes = fromBase64(base64);
  if (!isKeyName(name) || !bytes || bytes.length < 5) {
    throw new MalformedError('Expected a signature of a note: a dash, the name of a key, and a signature in base64.');
  }
  return { name, id: toHex(bytes.subarray(0, 4)), bytes };
}

/**
 * Verifies the signatures of a note by known keys. Signatures of other keys do not count.
 * @param vkeys the known keys, of a log or of witnesses
 * @throws MalformedError if the text is no signed note, no known key has signed it, or a signature in the name of one is wrong
 */
export async function openNote(note: string, vkeys: readonly string[]): Promise<OpenedNote> {
  const { text, signatures } = parseNote(note);
  const known = vkeys.map((vkey) => ({ vkey, ...parseVkey(vkey) }));
  const verified = new Map<string, VerifiedSignature>();
  for (const signature of signatures) {
    const key = known.find(({ name, id }) => name === signature.name && id === signature.id);
    if (!key) continue;
    const { time, bytes } = stampOf(key.type, signature.bytes.subarray(4));
    if (!(await verifies(key, messageOf(text, key.type, time), bytes))) {
      throw new MalformedError(`The note has a signature of ${key.name} that does not fit its text.`);
    }
    verified.set(key.vkey, { vkey: key.vkey, name: key.name, ...(key.type === 'cosignature' ? { time } : {}) });
  }
  if (verified.size === 0) throw new MalformedError('The note has no signature of a known key.');
  return { text, signatures: [...verified.values()] };
}

async function verifies({ publicKey }: VerifierKey, message: Bytes, signature: Bytes): Promise<boolean> {
  const key = await crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify']);
  return crypto.subtle.verify('Ed25519', key, signature, message);
}

/** Splits the signature of a witness into its time and the signature proper. A time beyond 2^53 - 1 seconds has no signature. */
function stampOf(type: VerifierKey['type'], bytes: Bytes): { time: number; bytes: Bytes } {
  if (type === 'ed25519') return { time: 0, bytes };
  const time = Number(`0x0${toHex(bytes.subarray(0, 8))}`);
  return { time, bytes: Number.isSafeInteger(time) ? bytes.subarray(8) : new Uint8Array() };
}

const messageOf = (text: string, type: VerifierKey['type'], time: number): Bytes =>
  new TextEncoder().encode(type === 'cosignature' ? `cosignature/v1\ntime ${time}\n${text}` : text);

const lineOf = (name: string, bytes: Uint8Array) => `\u2014 ${name} ${toBase64(bytes)}\n`;

const isNoteText = (text: string) => text.endsWith('\n') && text.isWellFormed() && /^[^\u0000-\u0009\u000b-\u001f]*$/u.test(text);

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
const isKeyName = (name: string) => /^[^\p{White_Space}+\p{Cc}]+$/u.test(name) && name.isWellFormed();
