import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface PrivateKeyFile {
  file: string;
  /** The public key, as the service takes it. */
  key: string;
  passphrase?: string;
}

const pairs = {
  ed25519: () => generateKeyPairSync('ed25519'),
  p256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  p384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  p521: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  rsa: () => generateKeyPairSync('rsa', { modulusLength: 2_048 }),
} satisfies Record<string, () => KeyPairKeyObjectResult>;

/** Writes a new private key as PEM in PKCS#8. */
export function pemKey(folder: string, type: keyof typeof pairs): PrivateKeyFile {
  const { privateKey, publicKey } = pairs[type]();
  const file = join(folder, `${type}.pem`);
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return { file, key: publicKey.export({ type: 'spki', format: 'der' }).toString('base64') };
}

/** Writes a new private key of OpenSSH. Undefined on a machine without ssh-keygen. */
export function sshKey(folder: string, type: 'ed25519' | 'ecdsa' | 'rsa', passphrase = ''): PrivateKeyFile | undefined {
  const file = join(folder, `${type}-${passphrase.length}`);
  spawnSync('ssh-keygen', ['-q', '-t', type, '-N', passphrase, '-f', file, '-C', 'alice']);
  if (!existsSync(file)) return undefined;
  return { file, key: readFileSync(`${file}.pub`, 'utf8').trim(), ...(passphrase !== '' && { passphrase }) };
}
