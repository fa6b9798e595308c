import { existsSync } from 'node:fs';

/** Finds the public key beside a private one, by the names that ssh-keygen and docs/participant.md give them. */
export function publicKeyBeside(file: string): string | undefined {
  return found(file, [`${file}.pub`, file.replace(/\.pem$/, '.pub')]);
}

/** Finds the private key beside a public one, likewise. */
export function privateKeyBeside(file: string): string | undefined {
  const name = file.replace(/\.pub$/, '');
  return found(file, [name, `${name}.pem`]);
}

function found(file: string, others: string[]): string | undefined {
  return others.find((other) => other !== file && existsSync(other));
}
