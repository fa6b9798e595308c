import { numberedId } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import { type Findable, matchOf, numberIn, placesOf, placesToLook } from '../../../shared/find/names.ts';

const id = numberedId(7);
const computation = (name: string): Findable => ({ kind: 'computation', id, name, checksum: null });
const cvm = (name: string): Findable => ({ kind: 'cvm', id: name, name, checksum: null });
const asset = { kind: 'asset', id, name: 'a.csv', checksum: 'ab'.repeat(32) } as const;

describe('placesOf', () => {
  it.each([
    ['Iris', ['name#iris']],
    ['Average income by region', ['name#average income by region', 'word#income', 'word#by', 'word#region']],
    ['iris iris IRIS', ['name#iris iris iris']],
    ['(draft) Ⅷ', ['name#(draft) viii', 'word#draft', 'word#viii']],
    ['a b c d e f g h i', ['name#a b c d e f g h i', ...Array.from('bcdefgh', (each) => `word#${each}`)]],
    ['İ 🎉', ['name#i̇ 🎉']],
    [`${'𝒳'.repeat(70)} ${'y'.repeat(70)}`, [`name#${'x'.repeat(64)}`, `word#${'y'.repeat(64)}`]],
  ])('are for %s %j', (name, places) => {
    expect(placesOf(computation(name))).toEqual(places);
  });

  it('are the checksum of an asset too, and only the identifier of a CVM', () => {
    expect(placesOf(asset)).toEqual(['name#a.csv', 'word#csv', `checksum#${asset.checksum}`]);
    expect(placesOf(cvm('Rack-1:b'))).toEqual(['name#rack-1:b']);
  });
});

describe('matchOf', () => {
  it.each([
    ['average INCOME', { rank: 1, by: 'name' }],
    ['average income by region', { rank: 0, by: 'name' }],
    ['reg', { rank: 2, by: 'name' }],
    ['region x', undefined],
    ['verage', undefined],
    [id, { rank: 0, by: 'id' }],
    [id.slice(0, 18).toUpperCase(), { rank: 1, by: 'id' }],
    [id.slice(0, 17), undefined],
  ])('a computation for %s is %j', (query, match) => {
    expect(matchOf(query, computation('Average income by region'))).toEqual(match);
  });

  it('takes a Greek prefix in capitals, though a final sigma has another small letter', () => {
    for (const query of ['ΣΟΦΟΣ', 'σοφος', 'σοφοσ']) {
      expect(matchOf(query, computation('ΣΟΦΟΣΑ'))).toEqual({ rank: 1, by: 'name' });
      expect(placesToLook(query, 'computation')).toContain('name#σοφοσ');
    }
  });

  it.each([
    ['rac', undefined],
    ['RACK', { rank: 1, by: 'id' }],
    ['rack-1', { rank: 0, by: 'id' }],
  ])('a CVM for %s is %j', (query, match) => {
    expect(matchOf(query, cvm('Rack-1'))).toEqual(match);
  });

  it('finds an asset by its whole checksum', () => {
    expect(matchOf(asset.checksum.toUpperCase(), asset)).toEqual({ rank: 0, by: 'checksum' });
    expect(matchOf(asset.checksum.slice(1), asset)).toBeUndefined();
    expect(placesToLook(asset.checksum, 'asset')).toContain(`checksum#${asset.checksum}`);
  });
});

describe('numberIn', () => {
  it.each([
    [id, 7],
    [id.slice(0, 18), 7],
    [id.slice(0, 17), undefined],
    [`${id}0`, undefined],
    ['x'.repeat(18), undefined],
  ])('of %s is %s', (query, number) => {
    expect(numberIn(query)).toBe(number);
  });
});
