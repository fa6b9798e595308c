import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { joinedSignature } from 'computation-management-formats/bytes';
import { verifiesEs256 } from 'computation-management-formats/es256';
import fc from 'fast-check';
import { calculateJwkThumbprint } from 'jose';
import { describe, expect, it } from 'vitest';
import { publicJwkOf } from '../../../shared/evidence/signing-key.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwkOf = (key: KeyObject) => publicJwkOf(key.export({ format: 'der', type: 'spki' }));
const signed = (text: string, dsaEncoding: 'der' | 'ieee-p1363', key: KeyObject = privateKey) =>
  sign('sha256', Buffer.from(text), { key, dsaEncoding });

describe('joinedSignature', () => {
  it('turns every DER signature into one of 64 bytes that verifies', async () => {
    for (let count = 0; count < 300; count++) {
      const text = `statement ${count}`;
      const joined = joinedSignature(signed(text, 'der'), 32);
      expect(joined).toHaveLength(64);
      expect(await verifiesEs256(text, Buffer.from(joined).toString('base64url'), jwkOf(publicKey))).toBe(true);
    }
  });

  it('pads short integers, and removes the sign byte of long ones', () => {
    const r = Buffer.from('00ff', 'hex');
    const der = Buffer.from([0x30, 0x07, 0x02, 0x02, ...r, 0x02, 0x01, 0x05]);
    expect(Buffer.from(joinedSignature(der, 32)).toString('hex')).toBe(`${'ff'.padStart(64, '0')}${'05'.padStart(64, '0')}`);
  });

  it('throws for anything else, whatever bytes it gets', () => {
    const der = signed('statement', 'der');
    for (const broken of [Buffer.alloc(0), der.subarray(1), der.subarray(0, -1), Buffer.concat([der, Buffer.of(0)])]) {
      expect(() => joinedSignature(broken, 32)).toThrow('not the DER form');
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 90 }), (bytes) => {
        try {
          expect(joinedSignature(bytes, 32)).toHaveLength(64);
        } catch (error) {
          expect(error).toMatchObject({ message: expect.stringContaining('not the DER form') });
        }
      }),
    );
  });
});

describe('verifiesEs256', () => {
  it('accepts a signature in one spelling only', async () => {
    const signature = signed('statement', 'ieee-p1363').toString('base64url');
    const sameBytes = Array.from({ length: 64 }, (_, digit) =>
      Buffer.of(digit << 2)
        .toString('base64url')
        .charAt(0),
    )
      .map((last) => signature.slice(0, -1) + last)
      .filter((other) => Buffer.from(other, 'base64url').equals(Buffer.from(signature, 'base64url')));
    expect(sameBytes.length).toBeGreaterThan(1);
    for (const other of sameBytes) expect(await verifiesEs256('statement', other, jwkOf(publicKey))).toBe(other === signature);
    expect(await verifiesEs256('statement', `${signature}==`, jwkOf(publicKey))).toBe(false);
    expect(await verifiesEs256('statement', '', jwkOf(publicKey))).toBe(false);
  });

  it('refuses another text and another key', async () => {
    const signature = signed('statement', 'ieee-p1363').toString('base64url');
    expect(await verifiesEs256('Statement', signature, jwkOf(publicKey))).toBe(false);
    const other = jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey);
    expect(await verifiesEs256('statement', signature, other)).toBe(false);
  });
});

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

  it('throws for a key on another curve', () => {
    expect(() => publicJwkOf(spkiOf('P-384'))).toThrow();
  });
});
