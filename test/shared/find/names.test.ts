import { createHash } from 'node:crypto';
import { numberedId } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import { type Findable, matchOf, numberIn, placesOf, placesToLook } from '../../../shared/find/names.ts';

const id = numberedId(7);
const computation = (name: string): Findable => ({ kind: 'computation', id, name, owner: 'alice', checksum: null });
const cvm = (name: string): Findable => ({ kind: 'cvm', id: name, name, owner: null, checksum: null });
const asset = { kind: 'asset', id, name: 'a.csv', owner: 'bob', checksum: 'ab'.repeat(32) } as const;

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');
const exact = (name: string, owner: string) => `exact#${sha256(name)}#${sha256(owner)}`;

describe('placesOf', () => {
  it.each([
    ['Iris', 'iris', ['iris']],
    ['Average income by region', 'average income by region', ['average', 'income', 'by', 'region']],
    ['iris iris IRIS', 'iris iris iris', ['iris']],
    ['iris irises', 'iris irises', ['irises']],
    ['(draft) Ⅷ', '(draft) viii', ['draft', 'viii']],
    ['a b c d e f g h i', 'a b c d e f g h i', Array.from('abcdefgh')],
    ['İ 🎉', 'i̇ 🎉', ['i̇']],
    ['🎉', '🎉', []],
    [`${'𝒳'.repeat(70)} ${'y'.repeat(70)}`, `${'x'.repeat(70)} ${'y'.repeat(70)}`, ['x'.repeat(64), 'y'.repeat(64)]],
  ])('are the hash of the whole name and the words of %j', (name, whole, words) => {
    expect(placesOf(computation(name))).toEqual([exact(whole, 'alice'), ...words.map((each) => `word#${each}`)]);
  });

  it('are the checksum of an asset too, and only the identifier of a CVM', () => {
    expect(placesOf(asset)).toEqual([exact('a.csv', 'bob'), 'word#a', 'word#csv', `checksum#${asset.checksum}`]);
    expect(placesOf(cvm('Rack-1:b'))).toEqual(['name#rack-1:b']);
  });
});

describe('matchOf', () => {
  it.each([
    ['average INCOME', { rank: 2, by: 'name' }],
    ['average income by region', { rank: 1, by: 'name' }],
    ['reg', { rank: 3, by: 'name' }],
    ['reg aver, INC', { rank: 3, by: 'name' }],
    ['region x', undefined],
    ['region average income by x', undefined],
    [', ', undefined],
    ['verage', undefined],
    [id, { rank: 0, by: 'id' }],
    [id.slice(0, 18).toUpperCase(), { rank: 2, by: 'id' }],
    [id.slice(0, 17), undefined],
  ])('a computation for %s is %j', (query, match) => {
    expect(matchOf({ query }, computation('Average income by region'))).toEqual(match);
  });

  it('takes a Greek prefix in capitals, though a final sigma has another small letter', () => {
    for (const query of ['ΣΟΦΟΣ', 'σοφος', 'σοφοσ']) {
      expect(matchOf({ query }, computation('ΣΟΦΟΣΑ'))).toEqual({ rank: 2, by: 'name' });
      expect(placesToLook({ query }, 'computation')).toContainEqual(['word#σοφοσ']);
    }
  });

  it.each([
    ['rac', undefined],
    ['RACK', { rank: 2, by: 'id' }],
    ['rack-1', { rank: 0, by: 'id' }],
  ])('a CVM for %s is %j', (query, match) => {
    expect(matchOf({ query }, cvm('Rack-1'))).toEqual(match);
  });

  it('matches only a name, identifier or checksum in full if that is asked for, and only the rows of one owner', () => {
    const one = computation('Average income');
    expect(matchOf({ query: 'average income', exact: true }, one)).toEqual({ rank: 1, by: 'name' });
    expect(matchOf({ query: id, exact: true }, one)).toEqual({ rank: 0, by: 'id' });
    expect(matchOf({ query: asset.checksum, exact: true }, asset)).toEqual({ rank: 1, by: 'checksum' });
    for (const query of ['average', 'average income ', id.slice(0, 18)])
      expect(matchOf({ query, exact: true }, one)).toBeUndefined();
    expect(matchOf({ query: 'average', owner: 'alice' }, one)).toEqual({ rank: 2, by: 'name' });
    for (const owner of ['Alice', 'bob']) expect(matchOf({ query: 'average', owner }, one)).toBeUndefined();
    expect(placesToLook({ query: 'average', exact: true, owner: 'alice' }, 'computation')).toEqual([[exact('average', 'alice')]]);
    expect(placesToLook({ query: 'rack-1', exact: true }, 'cvm')).toEqual([['name#rack-1\t']]);
    expect(placesToLook({ query: 'rack-1', owner: 'alice' }, 'cvm')).toEqual([]);
  });

  it('finds an asset by its whole checksum', () => {
    expect(matchOf({ query: asset.checksum.toUpperCase() }, asset)).toEqual({ rank: 1, by: 'checksum' });
    expect(matchOf({ query: asset.checksum.slice(1) }, asset)).toBeUndefined();
    expect(placesToLook({ query: asset.checksum }, 'asset')).toContainEqual([`checksum#${asset.checksum}`]);
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
