import { csvText } from 'computation-management-words';
import { describe, expect, it } from 'vitest';

describe('csvText', () => {
  it('writes a line for each row with a column for each field, quoted as RFC 4180 says', () => {
    const rows = [
      { name: 'a "b", c', size: 5, reason: null },
      { name: 'two\nlines', used: true, agent: { state: 'x' } },
    ];
    expect(csvText(rows)).toBe('name,size,reason,used,agent\r\n"a ""b"", c",5,,,\r\n"two\nlines",,,true,"{""state"":""x""}"\r\n');
  });

  it.each([
    '=1+1',
    '+1',
    '-1',
    '@A1',
    ' =1',
    '\t=1',
    '\u00a0=1',
    '\uff1d1',
    '\uff0b1',
    '\uff0d1',
    '\uff20A1',
    '\n=1',
    '\n1',
    '\r=1',
    '|calc',
    '%0',
    "=cmd|' /C calc'!A0",
  ])('leaves no formula in %j, nor in a name of a field', (text) => {
    const [header = '', row = ''] = csvText([{ [text]: text }]).split(/\r\n(?=["'])/);
    for (const found of [header, row]) expect(found).toMatch(/^"?'/);
  });

  it('makes no two texts the same', () => {
    const texts = ['alice', "'alice", '=alice', "'=alice", "''=alice"];
    expect(new Set(texts.map((user) => csvText([{ user }]))).size).toBe(texts.length);
  });

  it('keeps numbers, and words that only contain such characters', () => {
    expect(csvText([{ a: -5, b: 'penguin-sizes.csv' }])).toBe('a,b\r\n-5,penguin-sizes.csv\r\n');
  });
});
