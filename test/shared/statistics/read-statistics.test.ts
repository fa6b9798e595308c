import { computationFields, noKey } from '../../support/builders-store.ts';
import { describe, expect, it } from 'vitest';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import { createComputation } from '../../../shared/computations/create-computation.ts';
import { readStatistics } from '../../../shared/statistics/read-statistics.ts';
import { openList, rowLists } from '../../../shared/table/row-lists.ts';
import { startEmbeddedTable, tableThrough } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const now = '2025-03-02T00:00:00.000Z';
const daysRead = async (days: number) => (await readStatistics(embedded.table, 'd1', days, now)).map(({ day }) => day);

describe('readStatistics', () => {
  it('answers the given number of UTC days, today included, across the end of a month', async () => {
    for (const day of ['02-26', '02-27', '02-28', '03-01', '03-02', '03-03']) {
      const fields = computationFields();
      const now = `2025-${day}T12:00:00.000Z`;
      const given = {
        domain: 'd1',
        fields,
        agent_config: defaultAgentConfig,
        seal: noKey,
        attestation_policy: null,
        result_review: null,
        consumers: [],
        providers: [],
        by: 'alice',
        now,
      };
      await createComputation(embedded.table, given);
    }
    expect(await daysRead(1)).toEqual(['2025-03-02']);
    expect(await daysRead(3)).toEqual(['2025-02-28', '2025-03-01', '2025-03-02']);
    expect(await daysRead(4)).toEqual(['2025-02-27', '2025-02-28', '2025-03-01', '2025-03-02']);
  });

  it('answers the same while folds move old days out of the head, and if a fold dies before its commit', async () => {
    let time = Date.parse(now);
    const table = { ...embedded.table, clock: { now: () => time, wait: () => Promise.resolve() } };
    const before = await readStatistics(table, 'd1', 366, now);
    const list = rowLists.computations('d1');
    const dying = tableThrough(table, (send, { input }) =>
      String(input.Item?.['sk']).endsWith('head') ? Promise.reject(new Error('died')) : send(),
    );
    await expect(openList(dying, list).fold({ least: 1 })).rejects.toThrow('died');
    for (let fold = 0; fold < 4; fold++) {
      expect(await readStatistics(table, 'd1', 366, now)).toEqual(before);
      await openList(table, list).fold({ least: 1 });
      time += 5_000;
    }
  });
});
