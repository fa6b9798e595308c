import { expect, it } from 'vitest';
import { differencesOf } from '../../../../packages/console/runs/differences.ts';

const hash = (byte: number) => new Array<number>(32).fill(byte);

it('names each value that differs, with datasets by their file name and hashes in hexadecimal', () => {
  const dataset = (filename: string, byte: number) => ({ filename, hash: hash(byte), user_key: 'key' });
  const then = { CVM: 'a', manifest: { datasets: [dataset('one.csv', 1), dataset('two.csv', 2)], description: '' } };
  const now = { CVM: 'a', manifest: { datasets: [dataset('two.csv', 3)], description: 'new' } };
  expect(differencesOf(then, now)).toEqual([
    { path: 'manifest datasets "one.csv" hash', then: '01'.repeat(32), now: undefined },
    { path: 'manifest datasets "one.csv" key', then: 'key', now: undefined },
    { path: 'manifest datasets "two.csv" hash', then: '02'.repeat(32), now: '03'.repeat(32) },
    { path: 'manifest description', then: '""', now: 'new' },
  ]);
  expect(differencesOf(then, structuredClone(then))).toEqual([]);
});
