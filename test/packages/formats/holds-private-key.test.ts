import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';
import { expect, it } from 'vitest';
import { certificatePem, opensshKeys } from './openssh-keys.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const pems = (['pkcs8', 'sec1'] as const).map((type) => String(privateKey.export({ format: 'pem', type })));
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;
const encrypted = { cipher: 'aes-256-cbc', passphrase: 'x' } as const;
const ders = [
  privateKey.export({ format: 'der', type: 'sec1' }),
  ed25519.export({ format: 'der', type: 'pkcs8' }),
  rsa.export({ format: 'der', type: 'pkcs1' }),
  rsa.export({ format: 'der', type: 'pkcs8', ...encrypted }),
];
const jwks = [privateKey, rsa, ed25519].map((key) => JSON.stringify(key.export({ format: 'jwk' }), null, 2));
const openssh = Buffer.from('openssh-key-v1\0\0\0\0\u0004none\0\0\0\u0004none', 'latin1');
const forms = [...pems, ...jwks, ...ders, openssh].map((form) => Buffer.from(form));

const dresses: Record<string, (bytes: Buffer) => string> = {
  base64: (bytes) => bytes.toString('base64'),
  'base64 in lines': (bytes) => bytes.toString('base64').replace(/.{64}/g, '$&\n'),
  'base64 in narrow lines': (bytes) => bytes.toString('base64').replace(/.{10}/g, '$&\r\n'),
  'base64 between other words': (bytes) => `My key is:\n${bytes.toString('base64')} (keep it)`,
  base64url: (bytes) => bytes.toString('base64url'),
  'base64 twice': (bytes) => Buffer.from(bytes.toString('base64')).toString('base64'),
  hex: (bytes) => bytes.toString('hex'),
  'percent-encoded base64': (bytes) => encodeURIComponent(bytes.toString('base64')),
  'percent-encoded bytes': (bytes) => bytes.toString('hex').replace(/../g, '%$&'),
  'a JSON string of base64 in lines': (bytes) => JSON.stringify(bytes.toString('base64').replace(/.{64}/g, '$&\r\n')),
  'a JSON string with escaped characters': (bytes) => bytes.toString('hex').replace(/../g, '\\u00$&'),
  'hex with colons': (bytes) => bytes.toString('hex').replace(/..(?!$)/g, '$&:'),
};

it.each(Object.keys(dresses))('a private key of every form is recognized as %s', (dress) => {
  expect(forms.map((bytes) => holdsPrivateKey(dresses[dress]?.(bytes) ?? ''))).toEqual(forms.map(() => true));
});

it('a private key as text is recognized as it is, also after other text', () => {
  for (const text of [...pems, ...jwks])
    for (const dressed of [text, `a comment\n${text}`, encodeURIComponent(text), JSON.stringify(text)])
      expect(holdsPrivateKey(dressed), dressed).toBe(true);
});

it.each([
  ['OpenSSH', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl'],
  ['SSH.com', '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n'],
  ['PuTTY', '\nPuTTY-User-Key-File-3: ssh-ed25519\n'],
])('a private key of %s is recognized', (_, text) => {
  expect(holdsPrivateKey(text)).toBe(true);
});

it('public keys are let through', () => {
  const rsaPublic = createPublicKey(rsa);
  const harmless = [publicKey, rsaPublic].flatMap((key) => [
    String(key.export({ format: 'pem', type: 'spki' })),
    key.export({ format: 'der', type: 'spki' }).toString('base64'),
    JSON.stringify(key.export({ format: 'jwk' })),
  ]);
  const pkcs1 = String(rsaPublic.export({ format: 'pem', type: 'pkcs1' }));
  const others = [
    pkcs1,
    certificatePem,
    '/etc/ssl/private/agent.pem',
    'ssh-ed25519 AAAA alice@example.com',
    '',
    'a'.repeat(4_000),
  ];
  for (const text of [...harmless, ...others, ...opensshKeys.map(({ line }) => line)])
    expect(holdsPrivateKey(text), text).toBe(false);
});
