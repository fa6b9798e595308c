import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countTransition, readStatistics } from '../../../shared/computations/statistics.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../../support/embedded-table.ts';

let embedded: EmbeddedTable;
beforeAll(async () => {
  embedded = await startEmbeddedTable();
});
afterAll(() => embedded.stop());

const now = '2025-03-02T00:00:00.000Z';
const daysRead = async (days: number) => (await readStatistics(embedded.table, 'd1', days, now)).map(({ day }) => day);

describe('readStatistics', () => {
  it('answers the given number of UTC days, today included, across the end of a month', async () => {
    for (const day of ['02-26', '02-27', '02-28', '03-01', '03-02', '03-03']) {
      await transact(embedded.table, [countTransition('d1', 'created', `2025-${day}T12:00:00.000Z`)]);
    }
    expect(await daysRead(1)).toEqual(['2025-03-02']);
    expect(await daysRead(3)).toEqual(['2025-02-28', '2025-03-01', '2025-03-02']);
    expect(await daysRead(4)).toEqual(['2025-02-27', '2025-02-28', '2025-03-01', '2025-03-02']);
  });
});
