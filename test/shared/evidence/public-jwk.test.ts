import { generateKeyPairSync } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { describe, expect, it } from 'vitest';
import { keyObjectOf, publicJwkOf } from '../../../shared/evidence/es256.ts';

const spkiOf = (namedCurve: string) =>
  generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'der', type: 'spki' });

describe('publicJwkOf', () => {
  it('names a key by its thumbprint, as other libraries compute it', async () => {
    const jwk = publicJwkOf(spkiOf('P-256'));
    expect(jwk.kid).toBe(await calculateJwkThumbprint(jwk));
    expect(jwk).toEqual({
      kty: 'EC',
      crv: 'P-256',
      x: expect.any(String),
      y: expect.any(String),
      use: 'sig',
      alg: 'ES256',
      kid: jwk.kid,
    });
  });

  it('is the key itself, which keyObjectOf returns', () => {
    const spki = spkiOf('P-256');
    expect(keyObjectOf(publicJwkOf(spki)).export({ format: 'der', type: 'spki' })).toEqual(spki);
  });

  it('throws for a key on another curve', () => {
    expect(() => publicJwkOf(spkiOf('P-384'))).toThrow();
  });
});
