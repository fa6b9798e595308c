import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { InvalidKeyError, parsePublicKey } from 'computation-management-formats/public-key';
import sshpk from 'sshpk';
import { shellWord } from 'computation-management-words';
import { type CmsError, UsageError } from '../terminal/cms-error.ts';
import { textOf, filesBeside, isMissing, whyUnreadable } from './read-file.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** A public key that the user gave in a file. */
export interface GivenKey {
  /** The public key in a form that the service takes: an OpenSSH line as it is, every other form as base64. */
  key: string;
  fingerprint: string;
}

/**
 * Reads the file of a public key.
 * @param retyped returns the command to type with another file: the public key beside a private one, or a placeholder
 * @throws CmsError if the file cannot be read, or is no public key that the service takes, above all if it is a private key
 */
export async function readPublicKey(file: string, retyped?: (file: string) => string): Promise<GivenKey> {
  const bytes = await readFile(file).catch(async (error: unknown) => {
    throw new UsageError(whyUnreadable(file, error), isMissing(error) ? await makeOrFind(file) : filesBeside(file));
  });
  const content = bytes.subarray(bytes.indexOf('\ufeff') === 0 ? 3 : 0); // a mark that editors of Windows write first
  const line = content.toString('latin1').trim();
  const key = /^[a-z][a-z0-9@.-]*-[a-z0-9@.-]+ /.test(line) ? line : content.toString('base64');
  try {
    return { key, fingerprint: parsePublicKey(key).fingerprint };
  } catch (error) {
    if (!(error instanceof InvalidKeyError)) throw error;
    const beside = publicKeyBeside(file);
    const make = beside === undefined ? ' If you have none, cms key create makes one.' : '';
    throw new UsageError(`${file}: ${error.message}${make}`, retyped?.(beside ?? 'KEYFILE.pub'), error);
  }
}

/**
 * Makes a pair of Ed25519 keys, as `ssh-keygen` writes them: the private key in a file that only its user can read, without a passphrase, and
 * the public key beside it. Never replaces a file.
 * @returns the file of the public key
 * @throws CmsError if one of the two files exists
 */
export async function makeKeyPair(file: string): Promise<string> {
  const taken = [file, `${file}.pub`].find((each) => existsSync(each));
  if (taken !== undefined) {
    const next = `cms key ${existsSync(`${file}.pub`) ? `add ${shellWord(`${file}.pub`)}` : `create ${shellWord(`${file}-2`)}`}`;
    const choice = 'Choose another name, or upload this key where a computation waits for yours.';
    throw new UsageError(`There is a file ${JSON.stringify(taken)} already, and no key is replaced. ${choice}`, next);
  }
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = sshpk.parsePrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), 'pkcs8');
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, key.toString('ssh'), { flag: 'wx', mode: 0o600 });
  await writeFile(`${file}.pub`, `${key.toPublic().toString('ssh')}\n`, { flag: 'wx' });
  return `${file}.pub`;
}

/**
 * Returns the command that makes a missing public key, or lists the files among which it may be. If the private key is there, the command
 * makes the public key from it: a new pair would replace the private key.
 */
async function makeOrFind(file: string): Promise<string> {
  const own = file.endsWith('.pub') ? privateKeyBeside(file) : undefined;
  if (own?.endsWith('.pem')) return `openssl pkey -in ${shellWord(own)} -pubout -out ${shellWord(file)}`;
  if (own) return `ssh-keygen -y -f ${shellWord(own)} > ${shellWord(file)}`;
  const folder = dirname(file);
  const there = await readdir(folder).catch(() => (basename(folder) === '.ssh' ? [] : undefined)); // cms key create makes ~/.ssh
  const hasNone = there?.every((name) => !name.endsWith('.pub')) === true;
  return hasNone && file.endsWith('.pub') ? `cms key create ${shellWord(file.slice(0, -4))}` : filesBeside(file);
}

/**
 * Reads the file of a private key: PEM (PKCS#8, PKCS#1, SEC 1) or OpenSSH. Takes the passphrase of the key from CMS_PASSPHRASE, or asks for
 * it.
 * @throws CmsError if the key cannot be read
 */
export async function readPrivateKey(file: string, terminal: Pick<Terminal, 'env' | 'ask'>): Promise<KeyObject> {
  const content = await textOf(file);
  if (/^(ssh-|ecdsa-)|BEGIN (RSA )?PUBLIC KEY/.test(content.trim())) {
    const own = privateKeyBeside(file);
    throw new UsageError(`${file} is a public key. Sign with its private key${own ? `, ${own}` : ''}.`, filesBeside(file));
  }
  const read = content.includes('BEGIN OPENSSH PRIVATE KEY') ? readOpenSsh : readPem;
  const without = attempt(() => read(content));
  if (without.key) return without.key;
  const cipher = cipherIn(content);
  if (/gcm|poly1305/.test(cipher)) {
    const next = `ssh-keygen -p -Z aes256-ctr -f ${shellWord(file)}`;
    throw new UsageError(`cms cannot read ${file}: it is encrypted with ${cipher}.`, next);
  }
  const isEncrypted = /ENCRYPTED/.test(content) || without.error instanceof sshpk.KeyEncryptedError;
  if (!isEncrypted) throw unusable(file, without.error);
  const passphrase = terminal.env['CMS_PASSPHRASE'] ?? (await terminal.ask?.(`Passphrase of ${file}: `, { hidden: true }));
  if (passphrase === undefined) {
    throw new UsageError(`The private key ${file} has a passphrase. Set CMS_PASSPHRASE, or type it in a terminal.`);
  }
  const opened = attempt(() => read(content, passphrase));
  if (opened.key) return opened.key;
  throw unusable(file, opened.error, ', or the passphrase is wrong');
}

/** Returns the name of the cipher of an encrypted private key in the form of OpenSSH. Empty for other forms. */
function cipherIn(content: string): string {
  const [, base64 = ''] = /BEGIN OPENSSH PRIVATE KEY-+([^-]+)/.exec(content) ?? [];
  const [, cipher = ''] = /^openssh-key-v1\0\0{3}.([\w.@-]+)\0/s.exec(Buffer.from(base64, 'base64').toString('latin1')) ?? [];
  return cipher;
}

function unusable(file: string, cause: unknown, orElse = ''): CmsError {
  const message = `${file} is not a private key that cms reads${orElse}. Expected Ed25519, EC or RSA, as OpenSSH or PEM.`;
  return new UsageError(message, orElse === '' ? filesBeside(file) : undefined, cause);
}

function attempt(read: () => KeyObject): { key?: KeyObject; error?: unknown } {
  try {
    return { key: read() };
  } catch (error) {
    return { error };
  }
}

function readPem(content: string, passphrase?: string): KeyObject {
  return createPrivateKey({ key: content, ...(passphrase === undefined ? {} : { passphrase }) });
}

/** The bytes before the 32 bytes of an Ed25519 key in PKCS#8 (RFC 8410, section 7). */
const ed25519Head = Buffer.from('302e020100300506032b657004220420', 'hex');

function readOpenSsh(content: string, passphrase?: string): KeyObject {
  const key = sshpk.parsePrivateKey(content, 'ssh', passphrase === undefined ? {} : { passphrase });
  const secret = key.parts.find(({ name }) => name === 'k')?.data;
  if (key.type !== 'ed25519' || !secret) return createPrivateKey(key.toString('pkcs8'));
  // sshpk writes the public key too, which the OpenSSL of Node 20 and 22 refuses.
  return createPrivateKey({ key: Buffer.concat([ed25519Head, secret.subarray(-32)]), format: 'der', type: 'pkcs8' });
}

/** Finds the file of the public key beside a private key, by the names that ssh-keygen and docs/participant.md give the two files. */
export function publicKeyBeside(file: string): string | undefined {
  return found(file, [`${file}.pub`, file.replace(/\.pem$/, '.pub')]);
}

/** Finds the file of the private key beside a public key, by the names that ssh-keygen and docs/participant.md give the two files. */
export function privateKeyBeside(file: string): string | undefined {
  const name = file.replace(/\.pub$/, '');
  return found(file, [name, `${name}.pem`]);
}

function found(file: string, others: string[]): string | undefined {
  return others.find((other) => other !== file && existsSync(other));
}
