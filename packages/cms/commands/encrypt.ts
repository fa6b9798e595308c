import { sizeText } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { shellWord } from 'computation-management-words';
import { asked, type Context } from '../context/context.ts';
import { type Encrypted, encryptFile } from '../files/encrypt-file.ts';
import { type CmsCommand, likelyType } from './options.ts';

export interface EncryptOptions {
  output?: string;
  key?: string;
  copy?: string;
}

export function addEncryptCommand(program: CmsCommand): void {
  program
    .subcommand('encrypt', 'encrypt a file for the agent of a CVM, with a key that stays on this machine')
    .argument('<FILE>', 'the plain file, which stays as it is')
    .encryptOptions()
    .does(async (context, file: string, options: EncryptOptions) => {
      const encrypted = await encryptShown(context, file, options);
      context.print(encrypted, () => encryptedText(encrypted));
      const given: [string, string][] = Object.entries({ encrypt: file, ...options });
      const same = given.map(([option, value]) => `--${option} ${shellWord(value)}`).join(' ');
      const held = `--key-held party --type ${likelyType(file)} --computation COMPUTATION`;
      context.note(`Next: ${context.command(`asset add ${same} ${held}`)}\n`);
    });
}

/** Encrypts a file as `encryptFile` does. Asks for a second copy of the key, and says what depends on the key. */
export async function encryptShown(context: Context, file: string, options: EncryptOptions): Promise<Encrypted> {
  const copy = options.copy ?? (await asked(context, 'A second copy of the key, on another disk (a path; Enter for none)'));
  const encrypted = await encryptFile(context, { ...options, file, copy });
  const { key } = encrypted;
  const what = `Whoever has the key ${printable(key)} can open the encrypted file.`;
  context.note(`${what} Nobody can open it without the key: do not lose it.\n`);
  if (copy === undefined) context.note(`Keep a second copy of the key elsewhere, such as by: cp ${shellWord(key)} PATH\n`);
  return encrypted;
}

export function encryptedText({ file, key, copy, fingerprint, checksum, size }: Encrypted): string {
  return [
    `Encrypted as ${printable(file)} (${sizeText(size)})`,
    `  Key ${printable([key, ...(copy === undefined ? [] : [copy])].join(', '))}, which only you can read`,
    `  SHA-256 of the key ${fingerprint}`,
    `  SHA3-256 of the plain file ${checksum}\n`,
  ].join('\n');
}
