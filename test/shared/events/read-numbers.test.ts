import { beforeAll, describe, expect, it } from 'vitest';
import { Deadline } from '../../../shared/deadline.ts';
import { JournalGapError, withoutGaps } from '../../../shared/events/read-journal.ts';
import type { Table } from '../../../shared/table/table.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { skippingClock } from '../../support/skipping-clock.ts';

const embedded = sharedByTests(startEmbeddedTable);
let table: Table;
beforeAll(() => {
  const clock = skippingClock();
  table = { ...embedded.table, deadline: () => new Deadline(60_000, clock) };
});

/** Reads a journal that has a gap in the first attempts. @returns the number of the attempt that succeeds */
const readsAfter = (gaps: number) =>
  withoutGaps(table, (attempt) => {
    return attempt <= gaps ? Promise.reject(new JournalGapError('It has a gap.')) : Promise.resolve(attempt);
  });

describe('withoutGaps', () => {
  it('reads again while the journal has a gap, up to eight times', async () => {
    expect([await readsAfter(0), await readsAfter(1), await readsAfter(7)]).toEqual([1, 2, 8]);
    const damaged = { message: 'It has a gap.', cause: expect.any(JournalGapError) };
    await expect(readsAfter(8)).rejects.toMatchObject(damaged);
  });

  it('does not read again after another failure', async () => {
    const failure = new Error('It is down.');
    let attempts = 0;
    const read = withoutGaps(table, () => {
      attempts += 1;
      return Promise.reject(failure);
    });
    await expect(read).rejects.toBe(failure);
    expect(attempts).toBe(1);
  });
});
