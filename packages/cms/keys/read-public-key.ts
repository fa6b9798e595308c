import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { InvalidKeyError } from '../../../shared/keys/invalid-key-error.ts';
import { parsePublicKey } from '../../../shared/keys/public-key.ts';
import { CmsError } from '../cms-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { filesBeside } from '../output/files-beside.ts';
import { shellWord } from '../output/shell-word.ts';
import { whyUnreadable } from '../output/why-unreadable.ts';
import { privateKeyBeside, publicKeyBeside } from './key-pair.ts';

export interface GivenKey {
  /** In a form that the service takes: an OpenSSH line as it is, everything else as base64. */
  key: string;
  fingerprint: string;
}

/**
 * Reads the file of a public key.
 * @param retyped returns the command to type with the file of the public key beside a private one
 * @throws CmsError if it cannot be read, or is no public key that the service takes, above all if it is a private one
 */
export async function readPublicKey(file: string, retyped?: (file: string) => string): Promise<GivenKey> {
  const content = await readFile(file).catch(async (error: unknown) => {
    throw new CmsError(whyUnreadable(file, error), { next: await makeOrFind(file), exitCode: exitCodes.usage });
  });
  const line = content.toString('latin1').trim();
  const key = /^[a-z][a-z0-9@.-]*-[a-z0-9@.-]+ /.test(line) ? line : content.toString('base64');
  try {
    return { key, fingerprint: parsePublicKey(key).fingerprint };
  } catch (error) {
    if (!(error instanceof InvalidKeyError)) throw error;
    const beside = publicKeyBeside(file);
    throw new CmsError(`${file}: ${error.message}`, {
      next: beside && retyped?.(beside),
      exitCode: exitCodes.usage,
      cause: error,
    });
  }
}

/**
 * Returns the command that makes a public key where there is none yet, or lists the files among which it may be. Of a private key that
 * is there it makes the public one: to make a new pair would replace it.
 */
async function makeOrFind(file: string): Promise<string> {
  const own = file.endsWith('.pub') ? privateKeyBeside(file) : undefined;
  if (own?.endsWith('.pem')) return `openssl pkey -in ${shellWord(own)} -pubout -out ${shellWord(file)}`;
  if (own) return `ssh-keygen -y -f ${shellWord(own)} > ${shellWord(file)}`;
  const folder = dirname(file);
  const there = await readdir(folder).catch(() => (basename(folder) === '.ssh' ? [] : undefined)); // ssh-keygen makes ~/.ssh
  const hasNone = there?.every((name) => !name.endsWith('.pub')) === true;
  return hasNone && file.endsWith('.pub') ? `ssh-keygen -t ed25519 -f ${shellWord(file.slice(0, -4))}` : filesBeside(file);
}
