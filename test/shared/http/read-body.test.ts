import { describe, expect, it } from 'vitest';
import { readBody, malformedJson, malformedAt } from '../../../shared/http/read-body.ts';
import fc from 'fast-check';

const headers = { 'content-type': 'application/json' };
const read = (body: string, limitInBytes?: number) => readBody({ headers, body, isBase64Encoded: false }, limitInBytes);
const refusedAs = (code: string): Error => expect.objectContaining({ code }) as Error;

describe('readBody', () => {
  it('returns a body of exactly the limit and refuses one more byte as too_large', () => {
    expect(read('"é"', 4)).toBe('"é"');
    expect(() => read('"é "', 4)).toThrow(refusedAs('too_large'));
  });

  it('counts the bytes of an encoded body after its decoding', () => {
    const body = Buffer.from('"1234"').toString('base64');
    const readEncoded = (limitInBytes: number) => readBody({ headers, body, isBase64Encoded: true }, limitInBytes);
    expect(readEncoded(6)).toBe('"1234"');
    expect(() => readEncoded(5)).toThrow(refusedAs('too_large'));
  });

  it('has a limit of 256 KiB if no other is given', () => {
    const body = `"${'x'.repeat(256 * 1024 - 2)}"`;
    expect(read(body)).toBe(body);
    expect(() => read(`${body} `)).toThrow(refusedAs('too_large'));
  });

  it.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('returns 32 nested %s and refuses 33', (_what, open, close) => {
    const nested = (levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`;
    expect(read(nested(32))).toBe(nested(32));
    expect(() => read(nested(33))).toThrow('The body: Expected at most 32 levels of nesting.');
  });

  it.each(['[]', '{}', '"["', '"{"', '"\\"["', '"\\\\"'])(
    'returns 40 times %s beside one another, which is no nesting',
    (value) => {
      const body = `[${Array.from({ length: 40 }, () => value).join()}]`;
      expect(read(body)).toBe(body);
    },
  );

  it('finds nesting behind a text', () => {
    expect(() => read(`["]]",${'['.repeat(32)}${']'.repeat(32)}]`)).toThrow('The body: Expected at most 32 levels of nesting.');
  });

  it('refuses a body without a content-type, and says first if it is too large', () => {
    const plain = { headers: {}, body: '{}', isBase64Encoded: false };
    expect(() => readBody(plain)).toThrow(refusedAs('unsupported_media_type'));
    expect(() => readBody(plain, 1)).toThrow(refusedAs('too_large'));
  });

  it.each([
    'application/json;charset=utf-8',
    'application/json ; charset=utf-8',
    'application/json\t;charset=utf-8',
    'application/json;',
    'application/json ',
    'Application/JSON',
    'application/merge-patch+json ; charset=utf-8',
  ])('returns a body whose content-type is %j', (type) => {
    expect(readBody({ headers: { 'content-type': type }, body: '{}', isBase64Encoded: false })).toBe('{}');
  });

  it.each([
    'application/json-seq',
    'application/json charset=utf-8',
    'application/json, text/plain',
    'application/+json',
    'application/xjson',
    'text/json',
    'x application/json',
  ])('refuses a body whose content-type is %j', (type) => {
    const body = { headers: { 'content-type': type }, body: '{}', isBase64Encoded: false };
    expect(() => readBody(body)).toThrow(refusedAs('unsupported_media_type'));
  });

  it.each(['', 'identity', 'IDENTITY'])('returns a body whose content-encoding is %j', (encoding) => {
    const encoded = { headers: { ...headers, 'content-encoding': encoding }, body: '{}', isBase64Encoded: false };
    expect(readBody(encoded)).toBe('{}');
  });

  it.each(['gzip', 'gzip, identity', 'identity, gzip'])('refuses a body whose content-encoding is %j', (encoding) => {
    const encoded = { headers: { ...headers, 'content-encoding': encoding }, body: '{}', isBase64Encoded: false };
    expect(() => readBody(encoded)).toThrow(refusedAs('unsupported_media_type'));
  });
});

describe('malformedJson', () => {
  it.each([
    ['{"name": "x",}', 'Expected well-formed JSON. The error is at line 1, column 14.'],
    ['{\n  "näme🦊": "x",\n  "owner" "y"\n}', 'Expected well-formed JSON. The error is at line 3, column 11.'],
    ['{"🦊": x}', 'Expected well-formed JSON. The error is at line 1, column 7.'],
    ['{\n  "name": "x"', 'Expected well-formed JSON. The text ends too early, at line 2, column 14.'],
  ])('says where %j is malformed', (text, detail) => {
    expect(malformedJson(text)).toMatchObject({
      code: 'invalid_request',
      message: `The body: ${detail}`,
      extras: { errors: [{ pointer: '', detail }] },
    });
  });
});

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
