import { describe, expect, it } from 'vitest';
import { readBody } from '../../../shared/http/read-body.ts';

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
