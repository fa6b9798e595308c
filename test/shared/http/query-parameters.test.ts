import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { paging, waitParameter } from '../../../shared/http/query-parameters.ts';

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
