import { constants, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { isSignatureOf } from 'computation-management-formats/approval-signature';
import { approvalText, limitsOf } from 'computation-management-formats/consent';
import canonicalize from 'canonicalize';
import { describe, expect, it } from 'vitest';

const approved = {
  domain: 'D1',
  computation: '00000000-0007-8C3A-9F0E-2B7D41C5E6A8',
  approver: 'Bob "é"',
  manifest_digest: 'ab'.repeat(32),
  configuration_digest: 'cd'.repeat(32),
};
const spki = (key: KeyObject) => key.export({ format: 'der', type: 'spki' }).toString('base64');

describe('approvalText', () => {
  it.each([
    [{}, {}],
    [{ cvm_ids: ['b', 'A'] }, { cvm_ids: ['b', 'A'] }],
    [{ expires_at: '2026-01-01T00:00:00.000Z' }, { expires_at: '2026-01-01T00:00:00.000Z' }],
    [{ cvm_ids: null, expires_at: null }, {}],
  ])('is the canonical JSON of what is approved, by whom, with the limits %j', (given, named) => {
    const text = canonicalize({
      type: 'computation-approval',
      ...approved,
      computation: '00000000-0007-8c3a-9f0e-2b7d41c5e6a8',
      ...named,
    });
    expect(approvalText({ ...approved, ...limitsOf(given) })).toBe(text);
  });

  it('is another one for another domain, computation, approver, digest and limit', () => {
    const names = Object.keys(approved) as (keyof typeof approved)[];
    const others = names.map((name) => ({ ...approved, [name]: 'other' }));
    const limited = [{ cvm_ids: ['a'] }, { cvm_ids: ['a', 'b'] }, { cvm_ids: ['b', 'a'] }, { expires_at: 'a' }];
    const texts = [approved, ...others, ...limited.map((limits) => ({ ...approved, ...limits }))].map(approvalText);
    expect(new Set(texts).size).toBe(texts.length);
  });
});

const text = approvalText(approved);
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
  ])('accepts %s, and not of another text or with a changed byte', async (_algorithm, key, signature) => {
    expect(await isSignatureOf({ text, key: spki(key), signature: signature.toString('base64') })).toBe(true);
    expect(await isSignatureOf({ text: `${text} `, key: spki(key), signature: signature.toString('base64') })).toBe(false);
    const changed = Buffer.from(signature);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    expect(await isSignatureOf({ text, key: spki(key), signature: changed.toString('base64') })).toBe(false);
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
  ])('refuses %s', async (_what, key, signature) => {
    expect(await isSignatureOf({ text, key: spki(key), signature: signature.toString('base64') })).toBe(false);
  });

  it('refuses an RSA-PSS signature without its leading zero, as browsers do', async () => {
    for (let number = 0; ; number++) {
      const given = { text: String(number), key: spki(rsa.publicKey) };
      const signature = sign('sha256', Buffer.from(given.text), {
        key: rsa.privateKey,
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: 32,
      });
      if (signature[0] !== 0) continue;
      expect(await isSignatureOf({ ...given, signature: signature.toString('base64') })).toBe(true);
      expect(await isSignatureOf({ ...given, signature: signature.subarray(1).toString('base64') })).toBe(false);
      return;
    }
  });

  it.each([
    ['a text', 'AAAA'],
    ['a key that only agrees on other keys', spki(generateKeyPairSync('x25519').publicKey)],
  ])('returns false for %s instead of a key', async (_what, key) => {
    expect(await isSignatureOf({ text, key, signature: sign(null, data, ed25519.privateKey).toString('base64') })).toBe(false);
  });
});
