import { describe, expect, it } from 'vitest';
import { parseCondition, type ConditionalHeader } from '../../../shared/http/etags.ts';

const headers: ConditionalHeader[] = ['if-match', 'if-none-match'];
const etag = '"aB-_9"';

describe.each(headers)('parseCondition of %s', (header) => {
  it.each([
    ['the tag alone', '"aB-_9"'],
    ['the tag between others', '"x", "aB-_9","y"'],
    ['the tag after one that contains a comma', '"x,y", "aB-_9"'],
    ['the tag after one that contains all other characters', '"!#\'()*+./:;<=>?@[\\]^`{|}~é", "aB-_9"'],
    ['the tag in a list with empty elements and tabs', ' ,\t, "aB-_9" ,'],
    ['the tag after a weak one', 'W/"x", "aB-_9"'],
    ['a star', '*'],
    ['a star in spaces', ' * '],
  ])('names a tag by %s', (_what, value) => {
    expect(parseCondition(header, value)(etag)).toBe(true);
  });

  it.each([
    ['another tag', '"x"'],
    ['the tag in another case', '"ab-_9"'],
    ['a tag that contains the tag', '"xaB-_9"'],
    ['an empty tag', '""'],
  ])('does not name a tag by %s', (_what, value) => {
    expect(parseCondition(header, value)(etag)).toBe(false);
  });

  it('names a resource whose answers have several tags by any of them', () => {
    const names = parseCondition(header, '"b", "c"');
    expect([names('"a"', '"b"'), names('"a"', '"d"'), names()]).toEqual([true, false, false]);
  });

  it.each([
    ['nothing', ''],
    ['spaces', '  '],
    ['a comma', ','],
    ['text without quotes', 'abc'],
    ['a single quote', "'abc'"],
    ['an open quote', '"abc'],
    ['a star in a list', '"a", *'],
    ['two stars', '*, *'],
    ['a weak mark in lower case', 'w/"a"'],
    ['a weak mark apart from its tag', 'W/ "a"'],
    ['two tags without a comma', '"a" "b"'],
    ['text after a tag', '"a"b'],
    ['a space in a tag', '"a b"'],
    ['a line break in a tag', '"a\nb"'],
  ])('throws invalid_request that names the header for %s', (_what, value) => {
    expect(() => parseCondition(header, value)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        extras: { errors: [expect.objectContaining({ pointer: `header/${header}` })] },
      }),
    );
  });

  it('parses 10,000 characters of spaces and commas at once', () => {
    expect(() => parseCondition(header, `${' '.repeat(5_000)}${','.repeat(5_000)}x`)).toThrow();
  });
});

describe('a tag with a part after a dot', () => {
  const names = (header: ConditionalHeader, value: string, current: string) => parseCondition(header, value)(current);

  it.each([
    ['the same tag', '"aB-_9.x"', '"aB-_9.x"', [true, true]],
    ['another part after the dot', '"aB-_9.x"', '"aB-_9.y"', [true, false]],
    ['no part after the dot', '"aB-_9"', '"aB-_9.y"', [true, false]],
    ['a part that is gone', '"aB-_9.x"', '"aB-_9"', [true, false]],
    ['a part with dots', '"aB-_9.x.y"', '"aB-_9"', [true, false]],
    ['another state', '"aB-_8.x"', '"aB-_9.x"', [false, false]],
    ['no state', '".x"', '"aB-_9.x"', [false, false]],
  ])('is compared by if-match before the dot, by if-none-match as a whole: %s', (_what, value, current, expected) => {
    expect(headers.map((header) => names(header, value, current))).toEqual(expected);
  });
});

describe('a weak tag', () => {
  it('never names a tag in if-match, but does in if-none-match', () => {
    expect(headers.map((header) => parseCondition(header, 'W/"aB-_9"')(etag))).toEqual([false, true]);
  });
});
