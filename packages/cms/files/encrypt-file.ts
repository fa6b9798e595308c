import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { causeOf } from 'computation-management-client';
import { hashOfBytes } from 'computation-management-formats/digests';
import type { Context } from '../context/context.ts';
import { CmsError, codeOf, errorOf, UsageError } from '../terminal/cms-error.ts';
import { startProgress } from '../terminal/progress.ts';
import { readBytes } from './read-file.ts';
import { expectFile } from './transfers.ts';
import { writeWhole } from './write-whole.ts';

const keySize = 32;
const nonceSize = 12;
/** The number of bytes that are read, encrypted and written at once. */
const pieceInBytes = 64 * 1024;

/** A file that was encrypted here, with the key that opens it. */
export interface Encrypted {
  /** The encrypted file. */
  file: string;
  /** The file of the key. */
  key: string;
  /** The file of a second copy of the key. */
  copy: string | undefined;
  /** The SHA-256 of the key, in hex, which names the key and does not tell it. */
  fingerprint: string;
  /** The SHA3-256 of the plain file, in hex. */
  checksum: string;
  /** The size of the encrypted file in bytes. */
  size: number;
}

/**
 * Encrypts a file as agents decrypt it: a nonce of 12 bytes, then AES-256-GCM with the tag at the end (Cocos, `pkg/kbs`). Makes the key,
 * or uses the key that its file has already; then the encrypted file is replaced.
 * @throws CmsError if a file cannot be read or written, or the encrypted file exists without its key. Then no encrypted file is left half done
 */
export async function encryptFile(
  context: Pick<Context, 'terminal'>,
  given: { file: string; output?: string | undefined; key?: string | undefined; copy?: string | undefined },
): Promise<Encrypted> {
  const { file, output = `${file}.enc`, key: keyFile = `${file}.key`, copy } = given;
  const plainSize = await expectFile(file);
  const names = [file, output, keyFile, ...(copy === undefined ? [] : [copy])];
  if (new Set(names).size < names.length)
    throw new UsageError('The plain file, the encrypted file and the keys are different files.');
  const hasKey = existsSync(keyFile);
  if (!hasKey && existsSync(output)) {
    throw new UsageError(`There is a file ${JSON.stringify(output)} already, and no key ${JSON.stringify(keyFile)} for it.`);
  }
  const key = hasKey ? await readFileKey(keyFile) : randomBytes(keySize);
  // The key is safe before anything is encrypted with it.
  if (!hasKey) await writeNew(keyFile, key);
  if (copy !== undefined && !(existsSync(copy) && (await readFileKey(copy)).equals(key))) await writeNew(copy, key);
  const progress = startProgress(context.terminal);
  try {
    const onProgress = (done: number) => {
      context.terminal.signal.throwIfAborted();
      progress.show(`Encrypting ${basename(file)}`, { done, total: plainSize });
    };
    const checksum = await writeWhole(output, (part) => sealInto(part, file, key, onProgress));
    const { size } = await stat(output);
    return { file: output, key: keyFile, copy, fingerprint: hashOfBytes(key), checksum, size };
  } catch (cause) {
    if (context.terminal.signal.aborted) {
      throw errorOf('interrupted', 'Interrupted. The file is not encrypted.', undefined, cause);
    }
    throw new CmsError(`The file is not encrypted: ${causeOf(cause)}`, { cause });
  } finally {
    progress.stop();
  }
}

/**
 * Encrypts a file into another, piece by piece in one buffer, because what streams leave behind fills 100 MiB before it is collected.
 * @param onProgress gets the number of bytes that are encrypted, and may throw to stop
 * @returns the SHA3-256 of the plain file, in hex
 */
async function sealInto(target: string, file: string, key: Buffer, onProgress: (done: number) => void): Promise<string> {
  const nonce = randomBytes(nonceSize);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const hash = createHash('sha3-256');
  const buffer = Buffer.allocUnsafe(pieceInBytes);
  const from = await open(file);
  const to = await open(target, 'w');
  try {
    await to.appendFile(nonce);
    for (let done = 0; ;) {
      const { bytesRead } = await from.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) break;
      const piece = buffer.subarray(0, bytesRead);
      hash.update(piece);
      await to.appendFile(cipher.update(piece));
      onProgress((done += bytesRead));
    }
    await to.appendFile(Buffer.concat([cipher.final(), cipher.getAuthTag()]));
    await to.sync();
  } finally {
    await Promise.all([from.close(), to.close()]);
  }
  return hash.digest('hex');
}

/** Reads the key of an encrypted file: 32 bytes in base64. @throws CmsError if the file is no such key */
export async function readFileKey(file: string): Promise<Buffer> {
  const content = (await readBytes(file)).toString('latin1').trim();
  const key = Buffer.from(content, 'base64');
  if (key.length === keySize && key.toString('base64') === content) return key;
  throw new UsageError(`${JSON.stringify(file)} has no key: expected 32 bytes in base64, as cms encrypt writes them.`);
}

/** Writes a key into a new file that only its user can read, and waits until the disk has it. */
async function writeNew(file: string, key: Buffer): Promise<void> {
  const opened = await open(file, 'wx', 0o600).catch((error: unknown) => {
    const name = JSON.stringify(file);
    if (codeOf(error) === 'EEXIST') throw new UsageError(`There is a file ${name} already, and no key is replaced.`);
    throw new UsageError(`Cannot write ${name}: ${causeOf(error)}`);
  });
  try {
    await opened.writeFile(`${key.toString('base64')}\n`);
    await opened.sync();
  } finally {
    await opened.close();
  }
}
