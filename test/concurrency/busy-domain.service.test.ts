import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDynamoDb, type LocalDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { readStatistics } from '../../shared/statistics/read-statistics.ts';
import { foldChangedLists, foldMarkedLists } from '../../shared/table/fold-lists.ts';
import type { Table } from '../../shared/table/table.ts';
import { amount } from '../support/amounts.ts';
import { startAwsDynamoDb, type AwsDynamoDb } from '../support/aws-dynamodb/aws-dynamodb.ts';
import { unitLimitsOfAws } from '../support/aws-dynamodb/limits.ts';
import {
  aComputation,
  aReadyComputation,
  aRun,
  byAlice,
  endRunWith,
  startStores,
  type Stores,
} from '../support/builders-store.ts';
import { documentAt, patientDeadline } from '../support/embedded-table.ts';
import { inconsistencies, scan } from '../support/inconsistencies.ts';
import { listComputations } from '../../shared/computations/describe-computation.ts';

const domain = 'd1';
const changesPerSecond = 500;
const seconds = amount({ sample: 0.08, full: 2 });
/** The number of runs: one change in ten starts one, and one in ten ends one. */
const runs = (changesPerSecond * seconds) / 10;

/** Time passes more slowly than on the clock of this machine, which computes for all of AWS and all callers. */
const slowdown = amount({ sample: 60, full: 40 });
const startedAt = Date.now();
const clock = {
  now: () => startedAt + (Date.now() - startedAt) / slowdown,
  wait: (milliseconds: number) => delay(milliseconds * slowdown),
  setTimer: (milliseconds: number, callback: () => void) => {
    const timer = setTimeout(callback, milliseconds * slowdown);
    return () => clearTimeout(timer);
  },
};

let engine: LocalDynamoDb;
let front: AwsDynamoDb;
let stores: Stores;
let table: Table;
let throughFront: Stores;
beforeAll(async () => {
  engine = await startDynamoDb();
  process.env['DYNAMODB_ENDPOINT'] = engine.endpoint;
  stores = await startStores({ bySdk: true });
  front = await startAwsDynamoDb(engine.endpoint, { clock, transactionInMilliseconds: 15, limits: unitLimitsOfAws });
  const document = documentAt(front.endpoint, { maxAttempts: 6 });
  table = { name: stores.table.name, document, deadline: patientDeadline, clock };
  throughFront = { ...stores, table };
});
afterAll(async () => {
  table.document.destroy();
  await front.stop();
  await stores.stop();
  await engine.stop();
});

describe(`${changesPerSecond} creates, starts and ends of runs a second in one domain`, () => {
  it('all succeed without a conflict, and every total counts exactly what was acknowledged before', async () => {
    const ready: { id: string }[] = [];
    while (ready.length < runs) ready.push(await aReadyComputation(stores, domain));
    const before = { begun: runs, done: runs };
    const created = { ...before };
    const started: Promise<string>[] = [];
    const create = async () => {
      created.begun += 1;
      await aComputation(table, domain);
      created.done += 1;
    };
    const start = (index: number) => (started[index] = aRun(throughFront, domain, ready[index]?.id ?? '', `cvm-${index}`));
    const end = async (index: number) => endRunWith(throughFront, domain, (await started[index]) ?? '');
    const kinds = ['create', 'create', 'start', 'create', 'create', 'create', 'create', 'end', 'create', 'create'] as const;

    const changes: Promise<unknown>[] = [];
    let isOver = false;
    const offer = async () => {
      const first = clock.now();
      for (let index = 0; index < changesPerSecond * seconds; index++) {
        const pause = first + (index * 1_000) / changesPerSecond - clock.now();
        if (pause > 0) await clock.wait(pause);
        const kind = kinds[index % kinds.length];
        const turn = Math.floor(index / kinds.length);
        const change = kind === 'start' ? start(turn) : kind === 'end' ? end(turn) : create();
        change.catch(() => undefined);
        changes.push(change);
      }
      await Promise.all(changes);
    };
    let reads = 0;
    const readTotals = async () => {
      while (!isOver) {
        const atLeast = created.done;
        const [{ total }, statistics] = await Promise.all([
          listComputations(table, domain, { limit: 1, offset: 0 }),
          readStatistics(table, domain, 366, byAlice.now),
        ]);
        const entered = statistics.find(({ status }) => status === 'created')?.count ?? 0;
        for (const count of [total, entered]) {
          expect(count).toBeGreaterThanOrEqual(atLeast);
          expect(count).toBeLessThanOrEqual(created.begun);
        }
        reads += 1;
        await delay(amount({ sample: 40, full: 0 })); // reads without a pause take half of the time of this machine
      }
    };
    await Promise.all([offer().finally(() => (isOver = true)), readTotals(), readTotals()]);
    expect(reads).toBeGreaterThan(3);
    expect([front.figures.conflictingItems, created.done]).toEqual([[], created.begun]);

    const inLog = async () => (await scan(stores.table)).filter(({ pk }) => String(pk).startsWith('log#')).length;
    const left = await inLog();
    let time = Date.now();
    const clockOfSchedule = { now: () => time, wait: async (milliseconds: number) => void (time += milliseconds) };
    const keys = (await scan(stores.table)).map(({ pk, sk }) => ({ pk: { S: String(pk) }, sk: { S: String(sk) } }));
    const Records = keys.map((Keys) => ({ dynamodb: { Keys } }));
    await foldChangedLists({ ...stores.table, clock: clockOfSchedule }, { Records });
    for (let minute = 0; minute < 15; minute++) {
      time += 61_000;
      await foldMarkedLists({ ...stores.table, clock: clockOfSchedule });
    }
    expect([left > 0, await inLog()]).toEqual([true, 0]);
    expect(inconsistencies(await scan(stores.table))).toEqual([]);
  });
});
