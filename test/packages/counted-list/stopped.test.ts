import { BacklogError, sweepLists } from 'computation-management-counted-list';
import { beforeEach, describe, expect, it } from 'vitest';
import { listTable } from '../../../shared/table/row-lists.ts';
import type { Table } from '../../../shared/table/table.ts';
import { amount, oneIn, sampleSeed } from '../../support/amounts.ts';
import { startEmbeddedTable, tableThrough } from '../../support/embedded-table.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { PlainList, values } from './plain-list.ts';

beforeEach(oneIn(2));

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));
const random = seededRandom(sampleSeed);

const changesPerSecond = amount({ sample: 60, full: 150 });
/** An hour has 3,600. */
const seconds = amount({ sample: 24, full: 3_600 });
const changesAtOnce = changesPerSecond / 2;
/** More than come between two sweeps. */
const most = Math.min(20_000, Math.floor((changesPerSecond * seconds) / 3));

/** A list whose time passes as changes are offered. */
function aBusyList(name: string) {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const clock = { now: () => time, wait: async (milliseconds: number) => void (time += milliseconds) };
  const table: Table = { ...embedded.table, clock };
  const backlogs: number[] = [];
  const list = new PlainList(table, name, { most, onBacklog: (unfolded) => backlogs.push(unfolded) });
  let last = 0;
  const offer = async (): Promise<boolean> => {
    time += (changesAtOnce / changesPerSecond) * 1_000;
    const changes = Array.from({ length: changesAtOnce }, () => {
      if (random() < 0.5) return [(last += 1), values[0]] as const;
      return [1 + Math.floor(random() * last), values[Math.floor(random() * values.length)]] as const;
    });
    return await list.set(changes).then(
      () => true,
      (error: unknown) => {
        if (error instanceof BacklogError) return false;
        throw error;
      },
    );
  };
  /** Sets states through another client of the table: what one client has seen refuses no changes that another one makes. */
  const setThroughAnotherClient = async () => {
    const other = new PlainList(
      tableThrough(table, (send) => send()),
      name,
    );
    await other.set([[(last += 1), values[0]]]);
    list.members.set(last, { state: values[0], version: 1 });
  };
  const changeAnotherList = () =>
    new PlainList(table, `${name}-too`).set(Array.from({ length: 16 }, (_, at) => [at + 1, values[0]]));
  const sweep = () => sweepLists(listTable(table), () => list.open(), 30_000);
  const expectExact = async () => {
    const request = { limit: 100, offset: Math.floor(random() * last), state: values[Math.floor(random() * 5)] };
    expect(await list.open().page(request)).toEqual(list.page(request));
  };
  return {
    list,
    backlogs,
    offer,
    setThroughAnotherClient,
    changeAnotherList,
    sweep,
    expectExact,
    pass: (milliseconds: number) => void (time += milliseconds),
  };
}

const rounds = (seconds * changesPerSecond) / changesAtOnce;
/** A minute of the schedule, scaled as the hour is. */
const roundsPerSweep = Math.max(5, rounds / 60);

describe(`${changesPerSecond} changes a second for ${seconds} seconds without anybody who follows the stream (TEST_SEED=${sampleSeed})`, () => {
  it('all succeed while the schedule sweeps, reads stay exact, and nothing is left after', async () => {
    const { list, offer, sweep, expectExact, pass } = aBusyList('swept');
    for (let round = 1; round <= rounds; round++) {
      expect(await offer()).toBe(true);
      if (round % 10 === 0) await expectExact();
      if (round % roundsPerSweep >= 1) continue;
      pass(60_000);
      await sweep();
    }
    for (let minute = 0; minute < 15; minute++) {
      pass(60_000);
      await sweep();
    }
    expect(await list.differences()).toEqual([]);
    expect((await list.stored()).log).toEqual([]);
    expect(await list.open().isMarked()).toBe(false);
  });

  it('are refused beyond the backlog if the schedule has stopped too, reads stay exact, and it catches up', async () => {
    const { list, backlogs, offer, sweep, expectExact, pass, setThroughAnotherClient, changeAnotherList } = aBusyList('stopped');
    let [made, refused] = [0, 0];
    for (let round = 1; round <= rounds; round++) {
      if (await offer()) made += 1;
      else refused += 1;
      if (round % 10 === 0) await expectExact();
    }
    expect(refused).toBeGreaterThan(made / 2);
    expect(made * changesAtOnce).toBeGreaterThanOrEqual(most);
    expect(backlogs.at(-1)).toBeGreaterThanOrEqual(most);
    await expectExact();
    while (await offer()) made += 1;
    await changeAnotherList(); // which is looked at, too
    expect(await offer()).toBe(false);
    await setThroughAnotherClient();

    pass(60_000);
    await sweep();
    expect(await offer()).toBe(true);
    expect(await offer()).toBe(true);
    await list.open().fold({ least: 1, forMilliseconds: 60_000 });
    expect(await list.differences()).toEqual([]);
    expect((await list.stored()).log).toEqual([]);
  });
});

/** The log, and with it the cost of a read, is in proportion to it. */
const busyChangesPerSecond = amount({ sample: 200, full: 500 });
const mostUnits = (80 * busyChangesPerSecond) / 500;

describe(`a list of ${busyChangesPerSecond} changes a second`, () => {
  it(`is folded as quickly as it changes, and its first page costs at most ${mostUnits} read units`, async () => {
    let time = Date.parse('2026-01-01T00:00:00Z');
    const table: Table = { ...embedded.table, clock: { now: () => time, wait: () => Promise.resolve() } };
    let units = 0;
    const { middlewareStack } = table.document;
    middlewareStack.add(
      (next) => async (sent) => {
        const answer = await next({ ...sent, input: { ...sent.input, ReturnConsumedCapacity: 'TOTAL' } });
        units += (answer.output as { ConsumedCapacity?: { CapacityUnits?: number } }).ConsumedCapacity?.CapacityUnits ?? 0;
        return answer;
      },
      { name: 'units', step: 'initialize' },
    );
    const list = new PlainList(table, 'busy');
    const mostOf = { units: 0, log: 0, unfolded: 0 };
    for (let second = 0; second < amount({ sample: 6, full: 30 }); second++) {
      for (let part = 0; part < busyChangesPerSecond / 50; part++) {
        const first = second * busyChangesPerSecond + part * 50;
        await list.set(Array.from({ length: 50 }, (_, at) => [first + at + 1, at % 3 === 0 ? 'a' : 'b']));
      }
      time += 1_000;
      units = 0;
      expect((await list.open().page({ limit: 10, offset: 0 })).total).toBe(busyChangesPerSecond * (second + 1));
      mostOf.units = Math.max(mostOf.units, units);
      mostOf.log = Math.max(mostOf.log, (await list.stored()).log.length);
      mostOf.unfolded = Math.max(mostOf.unfolded, (await list.open().fold()).unfolded);
    }
    middlewareStack.remove('units');
    expect(mostOf.unfolded).toBeLessThan(3 * busyChangesPerSecond);
    expect(mostOf.log).toBeLessThan(6 * busyChangesPerSecond);
    expect(mostOf.units).toBeLessThanOrEqual(mostUnits);
  });
});
