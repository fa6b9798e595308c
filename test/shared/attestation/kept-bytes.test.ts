import { expect, it } from 'vitest';
import { KeptBytes } from '../../../shared/attestation/verify-tokens.ts';

it('the certificates of tokens are kept in memory up to a number of bytes, however large those of one token are', () => {
  const kept = new KeptBytes(10);
  kept.set('a', [new Uint8Array(2), new Uint8Array(2)]);
  kept.set('b', [new Uint8Array(4)]);
  kept.set('b', [new Uint8Array(4)]);
  expect([kept.get('a'), kept.get('b')]).toEqual([[new Uint8Array(2), new Uint8Array(2)], [new Uint8Array(4)]]);
  kept.set('large', [new Uint8Array(6)]);
  expect([kept.get('a'), kept.get('b'), kept.get('large')]).toEqual([
    [new Uint8Array(2), new Uint8Array(2)],
    [new Uint8Array(4)],
    undefined,
  ]);
  kept.set('c', []);
  expect([kept.get('a'), kept.get('b'), kept.get('c')]).toEqual([undefined, undefined, []]);
});
