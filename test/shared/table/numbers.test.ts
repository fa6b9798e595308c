import { describe, expect, it } from 'vitest';
import { writableKey } from '../../../shared/table/keys.ts';
import { incrementBy } from '../../../shared/table/writes.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

describe('incrementBy', () => {
  it('begins at 0, and returns a different number to every caller', async () => {
    const key = writableKey('a', 'counter');
    const numbers = await Promise.all(Array.from({ length: 20 }, () => incrementBy(embedded.table, key, 1)));
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(await incrementBy(embedded.table, key, 5)).toBe(25);
  });
});
