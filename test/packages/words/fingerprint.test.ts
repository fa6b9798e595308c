import { fingerprintOf } from 'computation-management-words';
import { generateKeyPairSync } from 'node:crypto';
import { parsePublicKey } from 'computation-management-formats/public-key';
import { describe, expect, it } from 'vitest';

describe('the fingerprint of a key in a manifest', () => {
  it.each([
    generateKeyPairSync('ed25519'),
    ...['P-256', 'P-384', 'P-521'].map((namedCurve) => generateKeyPairSync('ec', { namedCurve })),
    ...[2048, 3072].map((modulusLength) => generateKeyPairSync('rsa', { modulusLength })),
  ])('is that of ssh-keygen and of the service: $publicKey.asymmetricKeyType', ({ publicKey }) => {
    const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    expect(fingerprintOf(key)).toBe(parsePublicKey(key).fingerprint);
  });

  it('quotes a text that is no key, also one with more bytes behind a key', () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const der = publicKey.export({ format: 'der', type: 'spki' });
    for (const text of ['no key', Buffer.concat([der, Buffer.of(0)]).toString('base64')]) {
      expect(fingerprintOf(text)).toBe(`invalid: "${text}"`);
    }
  });
});
