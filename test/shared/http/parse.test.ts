import { strictObject, text } from 'computation-management-formats/fields';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { assetInput } from '../../../shared/assets/asset-input.ts';
import { ServiceError } from '../../../shared/runtime/errors.ts';
import { parseInput } from '../../../shared/http/parse.ts';
import { paging } from '../../../shared/http/query-parameters.ts';

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
