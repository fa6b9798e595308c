import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { waitParameter } from '../../../shared/http/wait-parameter.ts';

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
