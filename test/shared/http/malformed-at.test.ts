import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { malformedAt } from '../../../shared/http/malformed-at.ts';

/** What JSON.parse says of the text. Its messages give a position only for some errors. */
function refusalOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('malformedAt', () => {
  it.each([
    ['a comma at the end of an object', '{"name": "x",}', '}'],
    ['a missing comma', '{"name": "x" "owner": "y"}', '"owner'],
    ['a missing colon', '{"name" "x"}', '"x'],
    ['a comment', '{"name": "x"} // mine', '//'],
    ['single quotes', "{'name': 1}", "'name"],
    ['a name without quotes', '{name: 1}', 'name'],
    ['a line break in a text', '{"a": "x\ny"}', '\n'],
    ['an unknown escape', String.raw`{"a": "\x41"}`, 'x41'],
    ['a short unicode escape', String.raw`{"a": "\u12G4"}`, 'G4'],
    ['a number that begins with zero', '{"a": 01}', '1}'],
    ['a point without digits', '[1., 2]', ', 2'],
    ['an exponent without digits', '[1e+]', ']'],
    ['a word that is no value', '[tru, 1]', ', 1'],
    ['None of Python', '{"a": None}', 'None'],
    ['a byte order mark', '\ufeff{}', '\ufeff'],
    ['a second value', '{} {}', '{}'],
  ])('finds %s', (_what, text, rest) => {
    const expected = _what === 'a second value' ? 3 : text.indexOf(rest);
    expect(malformedAt(text)).toBe(expected);
  });

  it('returns the length of every JSON text that is cut off', () => {
    const text = String.raw`{"a": [1, -2.5e+3, true, null], "bé\u00e9\"": {"c": "d", "e": []}, "f": false }`;
    for (let length = 0; length < text.length; length++) expect(malformedAt(text.slice(0, length))).toBe(length);
  });

  it('finds the end of a text of megabytes that is not closed', () => {
    const text = `{"asset": "${String.raw`x\n`.repeat(1_000_000)}`;
    expect(malformedAt(text)).toBe(text.length);
  });

  it('agrees with JSON.parse where that names the character or the position', () => {
    const damaged = fc
      .tuple(
        fc.json({ maxDepth: 4 }),
        fc.nat(),
        fc.nat(3),
        fc.constantFrom('', ',', '}', ']', '"', ':', '0', '\\', 'e', '.', '\n', 'x'),
      )
      .map(([json, at, removed, inserted]) => {
        const start = at % (json.length + 1);
        return json.slice(0, start) + inserted + json.slice(start + removed);
      });
    fc.assert(
      fc.property(damaged, (text) => {
        const refusal = refusalOf(text);
        if (refusal === undefined) return;
        const at = malformedAt(text);
        const token = /^Unexpected token '(.+?)', /su.exec(refusal)?.[1];
        const position = / at position (\d+)/.exec(refusal)?.[1];
        if (token !== undefined) expect(text.startsWith(token, at)).toBe(true);
        else if (position !== undefined) expect(at).toBe(Number(position));
        else expect([refusal, at]).toEqual(['Unexpected end of JSON input', text.length]);
      }),
      { numRuns: 500 },
    );
  });
});
