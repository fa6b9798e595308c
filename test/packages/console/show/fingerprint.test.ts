import { generateKeyPairSync } from 'node:crypto';
import { parsePublicKey } from 'computation-management-formats/public-key';
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../../../packages/console/show/fingerprint.ts';

describe('the fingerprint of a key in the console', () => {
  it.each([
    generateKeyPairSync('ed25519'),
    ...['P-256', 'P-384', 'P-521'].map((namedCurve) => generateKeyPairSync('ec', { namedCurve })),
    ...[2048, 3072].map((modulusLength) => generateKeyPairSync('rsa', { modulusLength })),
  ])('is that of ssh-keygen and of the service: $publicKey.asymmetricKeyType', ({ publicKey }) => {
    const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    expect(fingerprintOf(key)).toBe(parsePublicKey(key).fingerprint);
  });

  it('shows a text that is no key as it is', () => {
    expect(fingerprintOf('no key')).toBe('no key');
  });
});
