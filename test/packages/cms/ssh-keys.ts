import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sshpk from 'sshpk';

/** Writes a new pair of keys as `ssh-keygen -t ed25519` does. Returns the file of the private key. */
export function writeSshKeys(home: string): string {
  const folder = join(home, '.ssh');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'id_ed25519');
  const key = sshpk.generatePrivateKey('ed25519');
  writeFileSync(file, key.toString('ssh'), { mode: 0o600 });
  writeFileSync(`${file}.pub`, `${key.toPublic().toString('ssh')}\n`);
  return file;
}
