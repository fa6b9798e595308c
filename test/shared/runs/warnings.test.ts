import { describe, expect, it } from 'vitest';
import { anAssetRow } from '../../support/builders-store.ts';
import { warningsOf } from '../../../shared/runs/dry-run.ts';

const hashOf = (index: number) => String(index).padStart(64, '0');
const datasetsOf = (...names: string[]) => names.map((file_name, index) => anAssetRow({ file_name, checksum: hashOf(index) }));

describe('the warnings before a run', () => {
  it('name datasets with the same content, whatever they are called, and none whose content has not arrived', () => {
    const datasets = ['a.csv', 'b.csv', 'c.csv'].map((file_name) => anAssetRow({ file_name, checksum: hashOf(1) }));
    const pending = ['d.csv', 'e.csv'].map((file_name) => anAssetRow({ file_name, checksum: null, state: 'pending' }));
    expect(warningsOf([...datasets, ...pending])).toEqual(['"a.csv" and "b.csv" and "c.csv" have the same content']);
  });

  it.each([
    ['case', 'Iris.csv', 'iris.CSV'],
    ['a zero width', 'iris.csv', 'ir\u200bis.csv'],
    ['a change of direction', 'iris.csv', '\u202airis.csv\u202c'],
    ['the kind of letters', 'iris.csv', '\uff49ris.csv'],
    ['a composed letter', 'caf\u00e9.csv', 'cafe\u0301.csv'],
    ['the kind of blank', 'my iris.csv', 'my\u00a0 iris.csv'],
  ])('name names that differ only in %s', (_what, one, other) => {
    expect(warningsOf(datasetsOf(one, other, 'other.csv'))).toEqual([
      `${JSON.stringify(one)} and ${JSON.stringify(other)} have names that look the same`,
    ]);
  });

  it('are none for names that differ', () => {
    expect(warningsOf(datasetsOf('part-1-1.csv', 'part-11.csv', 'part-1 1.csv'))).toEqual([]);
  });
});
