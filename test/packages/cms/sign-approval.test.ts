import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSignatureOf } from 'computation-management-formats/approval-signature';
import { approvalText } from 'computation-management-formats/consent';
import { toBase64 } from 'computation-management-formats/bytes';
import { parsePublicKey } from 'computation-management-formats/public-key';
import sshpk from 'sshpk';
import { afterAll, describe, expect, it } from 'vitest';
import { privateKeyBeside, publicKeyBeside, readPrivateKey } from '../../../packages/cms/files/key-files.ts';
import { signApproval } from '../../../packages/cms/commands/approvals.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-'));
afterAll(() => rmSync(folder, { recursive: true }));

const nobody = { env: {}, ask: undefined };
const approved = {
  domain: 'd1',
  computation: 'c1',
  approver: 'alice',
  manifest_digest: 'ab'.repeat(32),
  configuration_digest: 'cd'.repeat(32),
  cvm_ids: ['cvm-1'],
};

function fileOf(content: string | Buffer): string {
  const file = join(folder, 'key');
  writeFileSync(file, content);
  return file;
}

async function expectSigns(file: string, publicKey: string, terminal: Parameters<typeof readPrivateKey>[1] = nobody) {
  const signed = signApproval(await readPrivateKey(file, terminal), approved);
  const { spki, fingerprint } = parsePublicKey(publicKey);
  expect(signed).toMatchObject({ text: approvalText(approved), key: toBase64(spki), fingerprint });
  expect(await isSignatureOf(signed)).toBe(true);
}

const base64 = (key: KeyObject) => key.export({ type: 'spki', format: 'der' }).toString('base64');

describe('the other key of a pair', () => {
  it('is found by the names of ssh-keygen and of docs/participant.md, if it is there', () => {
    for (const name of ['id', 'id.pub', 'study.pem', 'study.pub', 'alone.pub']) writeFileSync(join(folder, name), '');
    const inFolder = (file: string | undefined) => file?.slice(folder.length + 1);
    const privateOf = (name: string) => inFolder(privateKeyBeside(join(folder, name)));
    const publicOf = (name: string) => inFolder(publicKeyBeside(join(folder, name)));
    expect(['id.pub', 'study.pub', 'alone.pub'].map(privateOf)).toEqual(['id', 'study.pem', undefined]);
    expect(['id', 'study.pem', 'id.pub', 'none'].map(publicOf)).toEqual(['id.pub', 'study.pub', undefined, undefined]);
  });
});

describe('a signed approval', () => {
  it.each([
    ['Ed25519', () => generateKeyPairSync('ed25519'), 'pkcs8'],
    ['ECDSA on P-256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'sec1'],
    ['ECDSA on P-384', () => generateKeyPairSync('ec', { namedCurve: 'P-384' }), 'pkcs8'],
    ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2048 }), 'pkcs1'],
  ] as const)('verifies with %s in PEM', async (_, generate, type) => {
    const { privateKey, publicKey } = generate();
    await expectSigns(fileOf(privateKey.export({ type: type, format: 'pem' })), base64(publicKey));
  });

  it.each(['ed25519', 'ecdsa'] as const)('verifies with %s as OpenSSH writes it', async (type) => {
    const key = sshpk.generatePrivateKey(type as 'ed25519');
    await expectSigns(fileOf(key.toString('ssh')), key.toPublic().toString('ssh').trim());
  });

  it('takes the passphrase of a key from CMS_PASSPHRASE, or asks for it', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' });
    const file = fileOf(pem);
    await expectSigns(file, base64(publicKey), { env: { CMS_PASSPHRASE: 'secret' }, ask: undefined });
    await expectSigns(file, base64(publicKey), { env: {}, ask: () => Promise.resolve('secret') });
    await expect(readPrivateKey(file, nobody)).rejects.toMatchObject({
      message: expect.stringContaining('Set CMS_PASSPHRASE'),
      exitCode: 2,
    });
    await expect(readPrivateKey(file, { env: { CMS_PASSPHRASE: 'wrong' }, ask: undefined })).rejects.toThrow(
      'passphrase is wrong',
    );
  });

  it('takes the passphrase of an OpenSSH key', async () => {
    const key = sshpk.generatePrivateKey('ed25519');
    const options = { passphrase: 'secret', cipher: 'aes256-ctr' } as object;
    const file = fileOf(key.toBuffer('ssh', options));
    await expectSigns(file, key.toPublic().toString('ssh').trim(), { env: { CMS_PASSPHRASE: 'secret' }, ask: undefined });
    await expect(readPrivateKey(file, nobody)).rejects.toMatchObject({
      message: expect.stringContaining('Set CMS_PASSPHRASE'),
      exitCode: 2,
    });
  });

  it.each(['aes256-gcm@openssh.com', 'chacha20-poly1305@openssh.com'])(
    'of an OpenSSH key that is encrypted with %s is not asked for: the error names the cipher, and the command that changes it',
    async (cipher) => {
      const length = (text: string) => Buffer.concat([Buffer.from([0, 0, 0, text.length]), Buffer.from(text)]);
      const key = Buffer.concat([Buffer.from('openssh-key-v1\0'), length(cipher), length('bcrypt')]).toString('base64');
      const file = fileOf(`-----BEGIN OPENSSH PRIVATE KEY-----\n${key}\n-----END OPENSSH PRIVATE KEY-----\n`);
      await expect(readPrivateKey(file, { env: { CMS_PASSPHRASE: 'secret' }, ask: undefined })).rejects.toMatchObject({
        message: `cms cannot read ${file}: it is encrypted with ${cipher}.`,
        next: `ssh-keygen -p -Z aes256-ctr -f ${file}`,
      });
    },
  );

  it('refuses a public key, and a file that contains no key', async () => {
    await expect(readPrivateKey(fileOf('ssh-ed25519 AAAA alice'), nobody)).rejects.toThrow('is a public key');
    await expect(readPrivateKey(fileOf('hello'), nobody)).rejects.toMatchObject({
      message: expect.stringContaining('is not a private key that cms reads. Expected Ed25519'),
      exitCode: 2,
    });
    await expect(readPrivateKey(join(folder, 'none'), nobody)).rejects.toThrow(`There is no file "${join(folder, 'none')}".`);
  });
});
