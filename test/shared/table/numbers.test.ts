import { describe, expect, it } from 'vitest';
import { incrementFrom } from '../../../shared/table/numbers.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

describe('incrementFrom', () => {
  it('returns a different number to every caller', async () => {
    const numbers = await Promise.all(
      Array.from({ length: 20 }, () => incrementFrom(embedded.table, { pk: 'b', sk: 'counter' }, 0)),
    );
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});
