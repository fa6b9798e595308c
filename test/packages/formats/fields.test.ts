import { computationName, fileName } from 'computation-management-formats/fields';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';

const visible = ['a', ' a ', '-', '😀', 'é', 'e\u0301', 'a\u202Eb', '語', '.a', '\u{10ffff}', 'x'.repeat(200)];
const invisible = [
  '',
  ' ',
  '   ',
  '\u00a0',
  '\u200b',
  '\u202e',
  '\u2060',
  '\u3164',
  '\u115f',
  '\u2800',
  '\u0301',
  '\ufeff',
  '\u{e0001}',
];
const controls = ['a\nb', 'a\u0000', '\u007fa', 'a\u0085b', 'a\u009f', 'a\tb'];

describe.each([
  ['a name of a computation', computationName],
  ['a name of a file', fileName],
])('%s', (_, schema) => {
  it('has at least one visible character and no control characters', () => {
    expect(visible.filter((name) => !v.is(schema, name))).toEqual([]);
    expect([...invisible, ...controls].filter((name) => v.is(schema, name))).toEqual([]);
  });
});

describe('a name of a file', () => {
  it('has at most 255 bytes in UTF-8', () => {
    const names = ['x'.repeat(255), `${'é'.repeat(127)}x`, 'é'.repeat(128), '😀'.repeat(64)];
    expect(names.map((name) => v.is(fileName, name))).toEqual([true, true, false, false]);
    expect(v.safeParse(fileName, 'é'.repeat(128)).issues?.map(({ message }) => message)).toEqual([
      'Expected at most 255 bytes in UTF-8.',
    ]);
  });
});
