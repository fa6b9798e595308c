import { computationFields, noKey } from '../../support/builders-store.ts';
import { describe, expect, it } from 'vitest';
import { defaultAgentConfig } from '../../../shared/computations/agent-config.ts';
import { createComputation } from '../../../shared/computations/create-computation.ts';
import { readStatistics } from '../../../shared/computations/statistics.ts';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { parseHead } from '../../../shared/lists/head.ts';
import { indexedLists } from '../../../shared/lists/indexed-list.ts';
import { logChange } from '../../../shared/lists/log.ts';
import { indexKeys } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { type Command, startEmbeddedTable, tableThrough } from '../../support/embedded-table.ts';
import { daysBeforeHead, headBeforeDays } from '../../support/interleave.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const now = '2025-03-02T00:00:00.000Z';
const daysRead = async (days: number) => (await readStatistics(embedded.table, 'd1', days, now)).map(({ day }) => day);

const isOfDay = ({ Item }: Command['input']) => String(Item?.['sk']).startsWith(indexKeys.dayPrefix);

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

  it('answers the same while folds move old days out of the head', async () => {
    let time = Date.parse(now);
    const table = { ...embedded.table, clock: { now: () => time, wait: () => Promise.resolve() } };
    const before = await readStatistics(table, 'd1', 366, now);
    for (let fold = 0; fold < 4; fold++) {
      await foldChanges(table, indexedLists.computations('d1').index, 0);
      time += 5_000;
      expect(await readStatistics(table, 'd1', 366, now)).toEqual(before);
    }
    const head = await getItem(table, indexKeys.head(indexedLists.computations('d1').index));
    expect(Object.keys(head?.['days'] as object)).toEqual([
      String(Date.parse('2025-03-01') / 86_400_000),
      String(Date.parse('2025-03-02') / 86_400_000),
      String(Date.parse('2025-03-03') / 86_400_000),
    ]);
  });

  it('answers the same where the item of a day is written five seconds after the fold that moves it began', async () => {
    let time = Date.parse(now);
    const table = { ...embedded.table, clock: { now: () => time, wait: () => Promise.resolve() } };
    const { index } = indexedLists.computations('d2');
    const entered = { day: Date.parse('2025-02-26') / 86_400_000, state: 1 };
    await transact(table, [logChange(index, 1, { version: 1, changes: [], entered })]);
    await foldChanges(table, index, 1);
    const before = await readStatistics(table, 'd2', 366, now);
    expect(before).toEqual([{ day: '2025-02-26', status: 'created', count: 1 }]);

    const asked = Promise.withResolvers<undefined>();
    const folded = Promise.withResolvers<undefined>();
    let reading: ReturnType<typeof readStatistics> | undefined;
    const folding = tableThrough(table, async (send, { input }) => {
      if (isOfDay(input)) {
        time += 5_000;
        const reader = daysBeforeHead(table, () => {
          asked.resolve(undefined);
          return folded.promise;
        });
        reading ??= readStatistics(reader, 'd2', 366, now);
        await asked.promise;
      }
      return await send();
    });
    await foldChanges(folding, index, 0);
    await foldChanges(table, index, 0);
    folded.resolve(undefined);
    expect(await reading).toEqual(before);
  });

  it('has its days moved out of the head also after the clock was set back', async () => {
    let time = Date.parse(now);
    const table = { ...embedded.table, clock: { now: () => time, wait: () => Promise.resolve() } };
    const { index } = indexedLists.computations('d5');
    const entered = { day: Date.parse('2025-02-20') / 86_400_000, state: 1 };
    await transact(table, [logChange(index, 1, { version: 1, changes: [], entered })]);
    const fold = async () => {
      await foldChanges(table, index, 0);
      return parseHead(await getItem(table, indexKeys.head(index))).days[entered.day];
    };
    await fold();
    expect(await fold()).toMatchObject({ kept_at: time });
    time -= 2 * 86_400_000;
    expect(await fold()).toMatchObject({ kept_at: time });
    time += 4_001;
    expect(await fold()).toBeUndefined();
  });

  it('keeps what a later fold has written of a day when an earlier one writes it late', async () => {
    let time = Date.parse(now);
    const table = { ...embedded.table, clock: { now: () => time, wait: () => Promise.resolve() } };
    const { index } = indexedLists.computations('d4');
    const entered = { day: Date.parse('2025-02-26') / 86_400_000, state: 1 };
    const enter = (number: number) => transact(table, [logChange(index, number, { version: 1, changes: [], entered })]);
    const fold = async () => {
      await foldChanges(table, index, 0);
      time += 5_000;
    };
    await enter(1);
    await fold();
    let isLate = false;
    const slow = tableThrough(table, async (send, { input }) => {
      if (isOfDay(input)) {
        isLate = true;
        for (let count = 0; count < 2; count++) await fold();
        await enter(2);
        for (let count = 0; count < 3; count++) await fold();
        const { days } = parseHead(await getItem(table, indexKeys.head(index)));
        expect(days).toEqual({});
      }
      return await send();
    });
    await foldChanges(slow, index, 0);
    expect(isLate).toBe(true);
    expect(await readStatistics(table, 'd4', 366, now)).toEqual([{ day: '2025-02-26', status: 'created', count: 2 }]);
  });

  it('counts a status once where two folds put its day into the head and into its item while it is read', async () => {
    const table = { ...embedded.table, clock: { now: () => Date.parse(now), wait: () => Promise.resolve() } };
    const { index } = indexedLists.computations('d3');
    const entered = { day: Date.parse('2025-02-26') / 86_400_000, state: 1 };
    await transact(table, [logChange(index, 1, { version: 1, changes: [], entered })]);
    const reader = headBeforeDays(table, async () => {
      await foldChanges(table, index, 1);
      await foldChanges(table, index, 1);
    });
    expect(await readStatistics(reader, 'd3', 366, now)).toEqual([{ day: '2025-02-26', status: 'created', count: 1 }]);
  });

  it('counts a status once if a fold dies before its commit, on a day that is not in the head', async () => {
    const fields = computationFields();
    const at = '2025-02-26T13:00:00.000Z';
    const given = {
      domain: 'd1',
      fields,
      agent_config: defaultAgentConfig,
      seal: noKey,
      consumers: [],
      providers: [],
      by: 'alice',
      now: at,
    };
    await createComputation(embedded.table, given);
    const before = await readStatistics(embedded.table, 'd1', 366, now);
    expect(before[0]).toEqual({ day: '2025-02-26', status: 'created', count: 2 });
    const dying = tableThrough(embedded.table, (send, { input }) =>
      input.Item?.['sk'] === 'head' ? Promise.reject(new Error('died')) : send(),
    );
    await expect(foldChanges(dying, indexedLists.computations('d1').index, 1)).rejects.toThrow('died');
    expect(await readStatistics(embedded.table, 'd1', 366, now)).toEqual(before);
  });
});
