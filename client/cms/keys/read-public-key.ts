import { readFile } from 'node:fs/promises';
import { CmsError } from '../cms-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { filesBeside } from '../output/files-beside.ts';
import { shellWord } from '../output/shell-word.ts';

/**
 * Reads the file of a public key, in the form that the service takes: an OpenSSH line as it is, everything else as base64.
 * @throws CmsError if it cannot be read or is a private key
 */
export async function readPublicKey(file: string): Promise<string> {
  const content = await readFile(file).catch((error: unknown) => {
    throw new CmsError(`Cannot read the public key ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      next: filesBeside(file),
      exitCode: exitCodes.usage,
    });
  });
  const text = content.toString('latin1').trim();
  if (/---- ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY/.test(text)) {
    throw new CmsError(`${file} is a private key, which must never leave this machine.`, {
      next: `cms key upload ${shellWord(`${file}.pub`)}`,
      exitCode: exitCodes.usage,
    });
  }
  return /^[a-z][a-z0-9@.-]*-[a-z0-9@.-]+ /.test(text) ? text : content.toString('base64');
}
