import { describeDifferences } from 'computation-management-words';
import { expect, it } from 'vitest';

const hash = (byte: number) => new Array<number>(32).fill(byte);

it('names each value that differs between two runs, with datasets by their file name and hashes in hexadecimal', () => {
  const dataset = (filename: string, byte: number) => ({ filename, hash: hash(byte), user_key: 'key' });
  const configuration = { log_access: 'none' };
  const then = {
    cvm_id: 'a',
    manifest: { datasets: [dataset('one.csv', 1), dataset('two.csv', 2)], description: '' },
    configuration,
  };
  const now = { cvm_id: 'b', manifest: { datasets: [dataset('two.csv', 3)], description: 'new' }, configuration };
  expect(describeDifferences(then, now)).toEqual([
    'the CVM was changed from a to b',
    'the dataset one.csv was removed',
    'two.csv 02020202…02020202 was replaced by 03030303…03030303',
    'the description was changed from "" to new',
  ]);
  expect(describeDifferences(then, structuredClone(then))).toEqual([]);
});
