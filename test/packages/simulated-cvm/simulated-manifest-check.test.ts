import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { manifestFlaw } from '../../../packages/simulated-cvm/simulated-cvm.ts';

const hash = Array.from({ length: 32 }, (_, index) => index);
const { publicKey } = generateKeyPairSync('ed25519');
const user_key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
const pem = Buffer.from(publicKey.export({ format: 'pem', type: 'spki' })).toString('base64');
const dataset = { hash, user_key, filename: 'penguins.csv' };
const good = {
  id: '1',
  name: '',
  description: '',
  algorithm: { hash, user_key },
  datasets: [dataset],
  result_consumers: [{ user_key }],
};

describe('manifestFlaw', () => {
  it('returns undefined for a manifest that an agent accepts', () => {
    expect(manifestFlaw(good)).toBeUndefined();
    expect(manifestFlaw({ ...good, datasets: [] })).toBeUndefined();
  });

  it.each([
    ['no manifest', undefined, /./],
    ['a short hash', { ...good, algorithm: { hash: hash.slice(1), user_key } }, /algorithm\.hash: .*32 bytes/],
    ['no algorithm', { ...good, algorithm: undefined }, /algorithm/],
    ['a key in PEM', { ...good, algorithm: { hash, user_key: pem } }, /public key/],
    [
      'a file name with a path',
      { ...good, datasets: [{ ...dataset, filename: '../penguins.csv' }] },
      /datasets\.0\.filename: .*plain/,
    ],
    ['one file name twice', { ...good, datasets: [dataset, dataset] }, /share a filename/],
    ['no result consumer', { ...good, result_consumers: [] }, /no result consumer/],
  ])('returns the flaw: %s', (_, manifest, flaw) => {
    expect(manifestFlaw(manifest)).toMatch(flaw);
  });
});
