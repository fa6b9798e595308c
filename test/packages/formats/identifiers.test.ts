import { numberedId, numberOf } from 'computation-management-formats/identifiers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

describe('numberedId', () => {
  it('returns a lower-case UUID of version 8 that contains its number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (number) => {
        const id = numberedId(number);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(numberOf(id)).toBe(number);
      }),
    );
  });

  it('accepts the least and the greatest number', () => {
    expect(numberOf(numberedId(0))).toBe(0);
    expect(numberOf(numberedId(2 ** 48 - 1))).toBe(2 ** 48 - 1);
  });

  it('returns identifiers that sort like their numbers', () => {
    const ids = [1, 255, 256, 65_536, 2 ** 40].map(numberedId);
    expect(ids.toSorted()).toEqual(ids);
  });

  it('returns different identifiers for the same number', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => numberedId(7))).size).toBe(1_000);
  });

  it.each([-1, 2 ** 48, 0.5, Number.NaN, Number.MAX_SAFE_INTEGER])('throws for %d, which is not a list number', (number) => {
    expect(() => numberedId(number)).toThrow(TypeError);
  });
});

describe('numberOf', () => {
  const id = numberedId(42);
  it.each([
    ['text of another form', 'hello'],
    ['an empty string', ''],
    ['upper case', numberedId(0xabcdef).toUpperCase()],
    ['a UUID of version 4', '0f9d2f5e-9c1a-4a3b-8c7d-1234567890ab'],
    ['a UUID of another variant', `${id.slice(0, 19)}c${id.slice(20)}`],
    ['something behind the identifier', `${id}\n`],
    ['something before it', ` ${id}`],
  ])('is undefined for %s', (_what, text) => {
    expect(numberOf(text)).toBeUndefined();
  });
});
