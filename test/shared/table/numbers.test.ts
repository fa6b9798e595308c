import { describe, expect, it } from 'vitest';
import { writableKey } from '../../../shared/table/keys.ts';
import { incrementExisting, incrementFrom } from '../../../shared/table/numbers.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

describe('incrementExisting', () => {
  it('counts on from a counter that exists, and creates none', async () => {
    const key = writableKey('a', 'counter');
    expect(await incrementExisting(embedded.table, key)).toBeUndefined();
    expect(await incrementFrom(embedded.table, key, 5)).toBe(6);
    expect(await incrementExisting(embedded.table, key)).toBe(7);
  });
});

describe('incrementFrom', () => {
  it('returns a different number to every caller', async () => {
    const numbers = await Promise.all(
      Array.from({ length: 20 }, () => incrementFrom(embedded.table, writableKey('b', 'counter'), 0)),
    );
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});
