import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSignatureOf } from 'computation-management-formats/approval-signature';
import { toBase64 } from 'computation-management-formats/bytes';
import { parsePublicKey } from 'computation-management-formats/public-key';
import { afterAll, describe, expect, it } from 'vitest';
import { NeedsPassphrase, UnusableKey } from '../../../../packages/console/keys/openssh-key.ts';
import { makeKey, readPrivateKey } from '../../../../packages/console/keys/private-key.ts';
import { pemKey, type PrivateKeyFile, sshKey } from '../../../support/private-key-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'private-keys-'));
afterAll(() => rmSync(folder, { recursive: true }));

const signsWith = async ({ file, key, passphrase }: PrivateKeyFile) => {
  const { sign, ...read } = await readPrivateKey(readFileSync(file, 'utf8'), passphrase);
  expect(read.fingerprint).toBe(parsePublicKey(key).fingerprint);
  expect(parsePublicKey(read.publicKey).spki).toEqual(parsePublicKey(key).spki);
  // The two numbers of an ECDSA signature are shorter or longer by chance.
  for (const text of Array.from({ length: 20 }, (_, number) => `text ${number}`)) {
    const spki = toBase64(parsePublicKey(key).spki);
    expect(await isSignatureOf({ text, key: spki, signature: await sign(text) })).toBe(true);
  }
};

describe('a private key in the browser', () => {
  it.each(['ed25519', 'p256', 'p384', 'p521', 'rsa'] as const)('signs as the service verifies, if it is PEM of %s', (type) =>
    signsWith(pemKey(folder, type)),
  );

  it.each(['ed25519', 'ecdsa', 'rsa'] as const)('signs as the service verifies, if it is of OpenSSH and %s', async (type) => {
    const key = sshKey(folder, type);
    if (key) await signsWith(key);
  });

  it('is made as Ed25519, and its file signs in the browser and with Node', async () => {
    const { key, pem } = await makeKey();
    expect(key.publicKey).toMatch(/^ssh-ed25519 AAAA/);
    const file = join(folder, 'made.pem');
    writeFileSync(file, pem);
    await signsWith({ file, key: key.publicKey });
    const spki = createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' });
    expect(parsePublicKey(key.publicKey).spki).toEqual(new Uint8Array(spki));
  });

  it('signs with its passphrase, and asks for it if it is missing or wrong', async () => {
    const key = sshKey(folder, 'ed25519', 'correct horse');
    if (!key) return;
    const text = readFileSync(key.file, 'utf8');
    await expect(readPrivateKey(text)).rejects.toThrow(new NeedsPassphrase('The key has a passphrase.'));
    await expect(readPrivateKey(text, 'wrong')).rejects.toThrow(new NeedsPassphrase('The passphrase is wrong.'));
    await signsWith(key);
  });

  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const locked = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const;
  const openSsh = `-----BEGIN OPENSSH PRIVATE KEY-----\n${btoa('openssh-key-v1\0cut off')}\n-----END OPENSSH PRIVATE KEY-----`;
  const sshString = (text: string) => `\0\0\0${String.fromCharCode(text.length)}${text}`;
  const chacha = btoa(
    `openssh-key-v1\0${['chacha20-poly1305@openssh.com', 'bcrypt', ''].map(sshString).join('')}\0\0\0\x01${sshString('')}${sshString('')}`,
  );
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey;
  const encryptedPkcs1 = String(rsa.export({ ...locked, type: 'pkcs1' }));
  const ecparam = `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${String(privateKey.export({ type: 'sec1', format: 'pem' }))}`;
  it.each([
    ['an encrypted PEM', String(privateKey.export(locked)), 'ENCRYPTED PRIVATE KEY. Approve with the command below'],
    ['SEC 1', String(privateKey.export({ type: 'sec1', format: 'pem' })), 'EC PRIVATE KEY. Approve with the command below'],
    ['encrypted PKCS#1', encryptedPkcs1, 'RSA PRIVATE KEY. Approve with the command below'],
    ['the output of openssl ecparam', ecparam, 'EC PRIVATE KEY. Approve with the command below'],
    ['no base64', '-----BEGIN PRIVATE KEY-----\n~~~\n-----END PRIVATE KEY-----', 'is damaged'],
    ['without its end', '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n', 'its END line is missing'],
    ['a public key', String(publicKey.export({ type: 'spki', format: 'pem' })), 'This is a public key.'],
    ['a public key of OpenSSH', 'ssh-ed25519 AAAA alice', 'This is a public key.'],
    [
      'another type',
      String(generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' })),
      'Ed25519, ECDSA or RSA',
    ],
    ['a cut-off file', openSsh, 'cut off'],
    [
      'protected by a cipher that neither a browser nor cms reads',
      `-----BEGIN OPENSSH PRIVATE KEY-----\n${chacha}\n-----END OPENSSH PRIVATE KEY-----`,
      'chacha20-poly1305@openssh.com protects. First change that: ssh-keygen -p -Z aes256-ctr -f KEYFILE',
    ],
    ['nothing', '', 'This is no private key.'],
  ])('is refused with what to do if it is %s', async (_, text, message) => {
    await expect(readPrivateKey(text)).rejects.toThrow(message);
    await expect(readPrivateKey(text)).rejects.toBeInstanceOf(UnusableKey);
  });
});
