import { generateKeyPairSync } from 'node:crypto';
import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';
import { expect, it } from 'vitest';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

it.each(['pkcs8', 'sec1'] as const)('a private key in %s is recognized, also after other text', (type) => {
  expect(holdsPrivateKey(`a comment\n${String(privateKey.export({ format: 'pem', type }))}`)).toBe(true);
});

it.each([
  ['OpenSSH', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl'],
  ['SSH.com', '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n'],
  ['PuTTY', '\nPuTTY-User-Key-File-3: ssh-ed25519\n'],
])('a private key of %s is recognized', (_, text) => {
  expect(holdsPrivateKey(text)).toBe(true);
});

it('public keys are let through', () => {
  expect(holdsPrivateKey(String(publicKey.export({ format: 'pem', type: 'spki' })))).toBe(false);
  expect(holdsPrivateKey('ssh-ed25519 AAAA alice@example.com')).toBe(false);
});
