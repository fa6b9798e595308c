import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import sshpk from 'sshpk';
import { CmsError } from '../cms-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { filesBeside } from '../output/files-beside.ts';
import { whyUnreadable } from '../output/why-unreadable.ts';
import type { Terminal } from '../terminal.ts';

/**
 * Reads the file of a private key: PEM (PKCS#8, PKCS#1, SEC 1) or OpenSSH. Takes its passphrase from CMS_PASSPHRASE, or asks for it.
 * @throws CmsError if it cannot be read
 */
export async function readPrivateKey(file: string, terminal: Pick<Terminal, 'env' | 'ask'>): Promise<KeyObject> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CmsError(whyUnreadable(file, error), { next: filesBeside(file), exitCode: exitCodes.usage });
  });
  if (/^(ssh-|ecdsa-)|BEGIN (RSA )?PUBLIC KEY/.test(content.trim())) {
    throw new CmsError(`${file} is a public key. Sign with its private key.`, {
      next: filesBeside(file),
      exitCode: exitCodes.usage,
    });
  }
  const read = content.includes('BEGIN OPENSSH PRIVATE KEY') ? readOpenSsh : readPem;
  const without = attempt(() => read(content));
  if (without.key) return without.key;
  const isEncrypted = /ENCRYPTED/.test(content) || without.error instanceof sshpk.KeyEncryptedError;
  if (!isEncrypted) throw unusable(file, without.error);
  const passphrase = terminal.env['CMS_PASSPHRASE'] ?? (await terminal.ask?.(`Passphrase of ${file}: `, { hidden: true }));
  if (passphrase === undefined) {
    throw new CmsError(`The private key ${file} has a passphrase. Set CMS_PASSPHRASE, or type it in a terminal.`, {
      next: 'cms approve --help',
      exitCode: exitCodes.usage,
    });
  }
  const withPassphrase = attempt(() => read(content, passphrase));
  if (withPassphrase.key) return withPassphrase.key;
  throw unusable(file, withPassphrase.error);
}

function unusable(file: string, cause: unknown): CmsError {
  return new CmsError(
    `${file} is not a supported private key, or the passphrase is wrong. Expected Ed25519, EC or RSA, as OpenSSH or PEM.`,
    { next: 'cms approve --help', exitCode: exitCodes.usage, cause },
  );
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

/** What stands before the 32 bytes of an Ed25519 key in PKCS#8 (RFC 8410, section 7). */
const ed25519Head = Buffer.from('302e020100300506032b657004220420', 'hex');

function readOpenSsh(content: string, passphrase?: string): KeyObject {
  const key = sshpk.parsePrivateKey(content, 'ssh', passphrase === undefined ? {} : { passphrase });
  const secret = key.parts.find(({ name }) => name === 'k')?.data;
  if (key.type !== 'ed25519' || !secret) return createPrivateKey(key.toString('pkcs8'));
  // sshpk writes the public key too, which the OpenSSL of Node 20 and 22 refuses.
  return createPrivateKey({ key: Buffer.concat([ed25519Head, secret.subarray(-32)]), format: 'der', type: 'pkcs8' });
}
