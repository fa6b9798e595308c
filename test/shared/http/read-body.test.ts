import { strictObject, text } from 'computation-management-formats/fields';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { assetInput } from '../../../shared/assets/asset-input.ts';
import { parseInput, readBody } from '../../../shared/http/parse.ts';
import { paging, waitParameter } from '../../../shared/http/route.ts';
import { ServiceError } from '../../../shared/runtime/errors.ts';

describe.each(['limit', 'offset'] as const)('the parameter %s', (name) => {
  const schema = paging[name];
  const { minimum, maximum, default: byDefault } = v.getMetadata(schema.wrapped) as Record<string, number>;
  const isTaken = (text: string) => v.safeParse(schema, text).success;

  it('is described with the least and the greatest number that it takes, and its default', () => {
    expect([minimum, maximum].map((number) => v.parse(schema, String(number)))).toEqual([minimum, maximum]);
    expect([Number(minimum) - 1, Number(maximum) + 1].map((number) => isTaken(String(number)))).toEqual([false, false]);
    expect(v.parse(schema, undefined)).toBe(byDefault);
  });

  it.each(['', ' 1', '1 ', 'x1', '1x', '01', '1.0', '-1', '1e1', '9'.repeat(16), '1'.repeat(17), '1'.repeat(400)])(
    'refuses %j',
    (text) => {
      expect(isTaken(text)).toBe(false);
    },
  );
});

describe('waitParameter', () => {
  it.each([
    [undefined, 0],
    ['0', 0],
    ['9', 9],
    ['10', 10],
    ['19', 19],
    ['20', 20],
  ])('reads %j as %d seconds', (text, seconds) => {
    expect(v.parse(waitParameter, text)).toBe(seconds);
  });

  it.each(['', '21', '30', '99', '200', '1.5', '5s', 's5', ' 5', '5 ', '+5', '-1', '1e1', '0x5', '٣', '20\n'])(
    'refuses %j',
    (text) => {
      expect(v.safeParse(waitParameter, text).success).toBe(false);
    },
  );
});

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
    'returns 100 times %s beside one another, which is no nesting',
    (value) => {
      const body = `[${Array.from({ length: 100 }, () => value).join()}]`;
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
  ])('returns a body whose content-type is %j', (type) => {
    expect(readBody({ headers: { 'content-type': type }, body: '{}', isBase64Encoded: false })).toBe('{}');
  });

  it.each([
    'application/json-seq',
    'application/json charset=utf-8',
    'application/json, text/plain',
    'application/merge-patch+json',
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

const body = strictObject({
  name: text(1, 3),
  kind: v.optional(v.picklist(['a', 'b'])),
  inner: v.optional(strictObject({ 'a/b': v.optional(v.boolean()), list: v.optional(v.array(v.number())) })),
});

function violations(schema: v.GenericSchema, input: unknown, place: '' | 'query' | 'path' = '') {
  try {
    parseInput(schema, input, place);
  } catch (error) {
    if (error instanceof ServiceError) return { detail: error.message, code: error.code, errors: error.extras.errors };
    throw error;
  }
  return undefined;
}

describe('parseInput', () => {
  it('returns the output of the schema', () => {
    expect(parseInput(v.strictObject(paging), { limit: '100' }, 'query')).toEqual({ limit: 100, offset: 0 });
  });

  it.each([
    ['a missing field', {}, '/name', 'A value is required.'],
    ['an unknown field', { name: 'x', nmae: 1 }, '/nmae', 'Unknown field.'],
    ['a wrong type', { name: 5 }, '/name', 'Expected a string of 1 to 3 characters.'],
    ['a wrong length', { name: '12345' }, '/name', 'Expected a string of 1 to 3 characters, not 5.'],
    ['lone surrogates', { name: '\ud800' }, '/name', 'Expected well-formed Unicode without lone surrogates.'],
    ['a value that is not a choice', { name: 'x', kind: 'c' }, '/kind', 'Expected a or b.'],
    ['an item of an array', { name: 'x', inner: { list: [1, 'x'] } }, '/inner/list/1', 'Expected a number.'],
    ['a name that a pointer escapes', { name: 'x', inner: { 'a/b': 1 } }, '/inner/a~1b', 'Expected true or false.'],
    ['an array instead of an object', { name: 'x', inner: [] }, '/inner', 'Expected an object.'],
    ['null instead of an object', null, '', 'Expected an object.'],
  ])('throws invalid_request with place and detail for %s', (_what, input, pointer, detail) => {
    expect(violations(body, input)).toMatchObject({ code: 'invalid_request', errors: [{ pointer, detail }] });
  });

  it('throws the first violation as the detail, with “The body” if it has no place', () => {
    expect(violations(body, {})?.detail).toBe('/name: A value is required.');
    expect(violations(body, null)?.detail).toBe('The body: Expected an object.');
  });

  it('points to query parameters as query/<name>', () => {
    expect(violations(v.strictObject(paging), { limit: '0', order: 'x' }, 'query')?.errors).toEqual([
      { pointer: 'query/order', detail: 'Unknown parameter. Expected limit or offset.' },
      { pointer: 'query/limit', detail: 'Expected a whole number from 1 to 100.' },
    ]);
  });

  it('says that a request takes no parameters', () => {
    expect(violations(v.strictObject({}), { limit: '1' }, 'query')?.errors).toEqual([
      { pointer: 'query/limit', detail: 'Unknown parameter. Expected none.' },
    ]);
  });

  it('names an unknown field before the required field that it stands for', () => {
    expect(violations(body, { nmae: 'x' })).toMatchObject({
      detail: '/nmae: Unknown field.',
      errors: [
        { pointer: '/nmae', detail: 'Unknown field.' },
        { pointer: '/name', detail: 'A value is required.' },
      ],
    });
  });

  it('names every unknown field of a body, inside too, and at most twenty of one object', () => {
    const given = { nmae: 'x', knid: 'a', inner: { a: 1, lsit: [] } };
    expect(violations(body, given)?.errors).toEqual([
      { pointer: '/inner/a', detail: 'Unknown field.' },
      { pointer: '/inner/lsit', detail: 'Unknown field.' },
      { pointer: '/nmae', detail: 'Unknown field.' },
      { pointer: '/knid', detail: 'Unknown field.' },
      { pointer: '/name', detail: 'A value is required.' },
    ]);
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, 1]));
    expect(violations(body, many)?.errors).toHaveLength(20);
  });

  it.each([
    ['a choice of several texts', v.picklist(['', 'debug', 'info']), 'Expected an empty string, debug or info.'],
    ['one text', v.literal('creator'), 'Expected creator.'],
    ['one of several types', v.union([v.number(), v.boolean(), v.null()]), 'Expected a number, true or false or null.'],
  ])('describes %s in words', (_what, schema, detail) => {
    expect(violations(schema, 'other')?.errors).toEqual([{ pointer: '', detail }]);
  });

  it('names one violation of a text that is too long and has another form', () => {
    const given = { file_name: '/'.repeat(256), asset_type: 'dataset', mime_type: `a/b${';a=b'.repeat(1_500_000)}` };
    expect(violations(assetInput, { asset: given })?.errors).toEqual([
      { pointer: '/asset/file_name', detail: 'Expected a string of 1 to 255 characters, not 256.' },
      { pointer: '/asset/mime_type', detail: 'Expected a string of 0 to 255 characters, not 6000003.' },
    ]);
  });

  it('reports at most twenty violations', () => {
    expect(violations(v.array(v.number()), Array(30).fill('x'))?.errors).toHaveLength(20);
  });

  it('cuts the name of an unknown field after 100 characters', () => {
    const { detail, errors } = violations(body, { name: 'x', [`~${'x'.repeat(3_000_000)}`]: 1 }) ?? {};
    const pointer = `/~0${'x'.repeat(99)}…`;
    expect(errors).toEqual([{ pointer, detail: 'Unknown field.' }]);
    expect(detail).toBe(`${pointer}: Unknown field.`);
  });

  it('never repeats the input', () => {
    expect(JSON.stringify(violations(body, { name: 'SECRET', kind: 'SECRET', inner: 'SECRET' }))).not.toContain('SECRET');
  });
});

describe('text', () => {
  it('counts characters as JSON Schema does', () => {
    expect(violations(text(0, 3), '🦊🦊🦊')).toBeUndefined();
    expect(violations(text(0, 3), '🦊🦊🦊🦊')?.detail).toContain('not 4');
  });
});
