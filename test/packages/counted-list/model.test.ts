import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../../shared/table/table.ts';
import { amount } from '../../support/amounts.ts';
import { type EmbeddedTable, startEmbeddedTable } from '../../support/embedded-table.ts';
import { PlainList, settle, values } from './plain-list.ts';

let embedded: EmbeddedTable;
let time = Date.parse('2026-01-01T00:00:00Z');
const pass = (milliseconds: number) => void (time += milliseconds);
let table: Table;
beforeAll(async () => {
  embedded = await startEmbeddedTable();
  table = { ...embedded.table, clock: { now: () => time, wait: async (milliseconds) => pass(milliseconds) } };
});
afterAll(() => embedded.stop());

const state = fc.option(fc.constantFrom(...values), { nil: undefined });
const aChange = fc.record({
  does: fc.constant('change' as const),
  /** Neighbors, so that some steps fill several nodes. */
  first: fc.integer({ min: 1, max: 3_000 }),
  count: fc.constantFrom(1, 1, 1, 90),
  state,
});
const aFold = fc.record({ does: fc.constant('fold' as const), seconds: fc.constantFrom(0, 1, 5) });
const steps = fc.array(fc.oneof({ weight: 6, arbitrary: aChange }, { weight: 2, arbitrary: aFold }), { maxLength: 40 });
const requests = fc.array(
  fc.record({ limit: fc.integer({ min: 1, max: 100 }), offset: fc.integer({ min: 0, max: 300 }), state }),
  { minLength: 3, maxLength: 3 },
);

let lists = 0;

describe('a counted list', () => {
  it('returns the pages and totals of a plain map after random changes with folds in between', async () => {
    await fc.assert(
      fc.asyncProperty(steps, requests, async (all, pages) => {
        const list = new PlainList(table, `model-${(lists += 1) % 2}/${lists}`); // two share partitions
        for (const step of all) {
          if (step.does === 'change') {
            await list.set(Array.from({ length: step.count }, (_, at) => [step.first + at, step.state]));
          } else {
            pass(step.seconds * 1_000);
            await list.open().fold({ least: 1 });
          }
          for (const page of pages) expect(await list.open().page(page)).toEqual(list.page(page));
        }
        await settle(list.open(), pass);
        expect(await list.differences()).toEqual([]);
      }),
      { numRuns: 12 },
    );
  });

  it('leaves nothing in the log, and no old node, once it has settled', async () => {
    const list = new PlainList(table, 'cleared');
    const count = amount({ sample: 25, full: 50 });
    for (const state of ['a', 'c', 'd']) {
      for (let first = 1; first <= 4_000; first += 500) {
        await list.set(Array.from({ length: count }, (_, at) => [first + at * 10, state]));
      }
      await list.open().fold({ least: 1 });
      pass(1_000);
    }
    await settle(list.open(), pass);
    const { log, index, nodes } = await list.stored();
    expect({ log, index: index.map((sk) => sk.split('#')[0]) }).toEqual({ log: [], index: ['/head'] });
    expect(nodes.length).toBeLessThan(6);
    expect(await list.open().page({ limit: 3, offset: 100, state: 'd' })).toEqual(
      list.page({ limit: 3, offset: 100, state: 'd' }),
    );
    await list.set([...list.members.keys()].slice(0, 90).map((number) => [number, undefined]));
    await settle(list.open(), pass);
    expect(await list.differences()).toEqual([]);
  });

  it('counts the members that entered a state, by the UTC day, also when days have left the head', async () => {
    const list = new PlainList(table, 'days');
    const first = Math.floor(time / 86_400_000);
    for (let day = 0; day < 6; day++) {
      await list.set([[day + 1, 'a']], time);
      await list.set([[day + 1, 'b']], time);
      if (day % 2 === 0) await settle(list.open(), pass);
      time = (first + day + 1) * 86_400_000;
    }
    await list.set([[1, undefined]]);
    const counted = await list.open().days(first + 1, first + 4);
    expect(counted).toEqual([1, 2, 3, 4].map((day) => ({ day: first + day, counts: [0, 1, 1, 0, 0, 0, 0, 0] })));
    expect((await list.stored()).index.filter((sk) => sk.startsWith('/root'))).toHaveLength(1);
  });
});
