import { constants, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { approvalText, isSignatureOf } from 'computation-management-formats/approval-signature';
import { canonicalDigest } from 'computation-management-formats/canonical-json';
import { describe, expect, it } from 'vitest';

const digest = 'ab'.repeat(32);
const approved = { domain: 'd1', computationId: 'c1', digest };
const spki = (key: KeyObject) => key.export({ format: 'der', type: 'spki' }).toString('base64');

describe('approvalText', () => {
  it('names the version, the domain, the computation and the digest', () => {
    expect(approvalText({ ...approved, limits: {} })).toBe(`computation-approval:v1:d1:c1:${digest}`);
  });

  it.each([{ cvm_ids: ['b', 'a'] }, { expires_at: '2026-01-01T00:00:00Z' }, { expires_at: '2026-01-01T00:00:00Z', cvm_ids: [] }])(
    'ends with the digest of the limits that are given, %j',
    (limits) => {
      expect(approvalText({ ...approved, limits })).toBe(`computation-approval:v1:d1:c1:${digest}:${canonicalDigest(limits)}`);
    },
  );
});

const text = approvalText({ ...approved, limits: {} });
const data = Buffer.from(text);
const ed25519 = generateKeyPairSync('ed25519');
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pss = (saltLength: number, key = rsa.privateKey) =>
  sign('sha256', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const curves = ['P-256', 'P-384', 'P-521'].map((curve) => [curve, ec(curve)] as const);

describe('isSignatureOf', () => {
  it.each<[string, KeyObject, Buffer]>([
    ['Ed25519', ed25519.publicKey, sign(null, data, ed25519.privateKey)],
    ['RSA-PSS with a salt of 32 bytes', rsa.publicKey, pss(32)],
    ...curves.map(([curve, { publicKey, privateKey }]): [string, KeyObject, Buffer] => [
      `ECDSA on ${curve} with SHA-256 in DER`,
      publicKey,
      sign('sha256', data, privateKey),
    ]),
  ])('accepts %s, and not of another text or with a changed byte', (_algorithm, key, signature) => {
    expect(isSignatureOf({ text, key: spki(key), signature: signature.toString('base64') })).toBe(true);
    expect(isSignatureOf({ text: `${text} `, key: spki(key), signature: signature.toString('base64') })).toBe(false);
    const changed = Buffer.from(signature);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    expect(isSignatureOf({ text, key: spki(key), signature: changed.toString('base64') })).toBe(false);
  });

  const [, p256] = curves[0] ?? [];
  it.each<[string, KeyObject, Buffer]>([
    ['an empty signature', ed25519.publicKey, Buffer.alloc(0)],
    ['a signature of half the length', ed25519.publicKey, sign(null, data, ed25519.privateKey).subarray(32)],
    ['a signature by another key', generateKeyPairSync('ed25519').publicKey, sign(null, data, ed25519.privateKey)],
    ['RSA-PSS with a salt of 20 bytes', rsa.publicKey, pss(20)],
    ['RSA with the padding of PKCS#1', rsa.publicKey, sign('sha256', data, rsa.privateKey)],
    [
      'RSA-PSS with SHA-512',
      rsa.publicKey,
      sign('sha512', data, { key: rsa.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }),
    ],
    ...(p256
      ? ([
          ['ECDSA as r and s', p256.publicKey, sign('sha256', data, { key: p256.privateKey, dsaEncoding: 'ieee-p1363' })],
          ['ECDSA with SHA-384', p256.publicKey, sign('sha384', data, p256.privateKey)],
          ['an Ed25519 signature by an ECDSA key', p256.publicKey, sign(null, data, ed25519.privateKey)],
        ] as [string, KeyObject, Buffer][])
      : []),
  ])('refuses %s', (_what, key, signature) => {
    expect(isSignatureOf({ text, key: spki(key), signature: signature.toString('base64') })).toBe(false);
  });

  it.each([
    ['a text', 'AAAA'],
    ['a key that only agrees on other keys', spki(generateKeyPairSync('x25519').publicKey)],
  ])('returns false for %s instead of a key', (_what, key) => {
    expect(isSignatureOf({ text, key, signature: sign(null, data, ed25519.privateKey).toString('base64') })).toBe(false);
  });
});
