import { beforeEach, describe, expect, it } from 'vitest';
import { Deadline } from '../../../shared/deadline.ts';
import type { Migration } from '../../../shared/migrations/migration.ts';
import { runMigrations } from '../../../shared/migrations/run-migrations.ts';
import { keyOfItem, migrationKeys, writableKey, type AnyKey, type Key } from '../../../shared/table/keys.ts';
import { scanPage } from '../../../shared/table/scan.ts';
import { getItem, queryPartition, type Table } from '../../../shared/table/table.ts';
import { deleteItems, putItem } from '../../../shared/table/writes.ts';
import { ConditionFailedError, transact } from '../../../shared/table/transaction.ts';
import { dieAtEveryCall } from '../../support/builders-purge.ts';
import { startStores } from '../../support/builders-store.ts';
import { scan } from '../../support/lifecycle-inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);

const now = '2026-11-21T12:00:00.000Z';
const anHourLater = '2026-11-21T13:00:00.000Z';
const itemCount = 7;
const places = Array.from({ length: itemCount }, (_, index) => writableKey(`old${index}`, 'thing'));

/** Marks every old thing, two items a step. */
function marking(name: string, afterStep: () => Promise<void> = () => Promise.resolve()): Migration {
  const step = async (table: Table, after: AnyKey | undefined) => {
    const filter = {
      FilterExpression: 'sk = :thing AND NOT contains(marks, :mark)',
      ExpressionAttributeValues: { ':thing': 'thing', ':mark': name },
    };
    const { items, next } = await scanPage(table, { after, limit: 2, filter, attributes: ['pk', 'sk'] });
    let changed = 0;
    for (const item of items) {
      const update = {
        Key: keyOfItem(item),
        UpdateExpression: 'SET marks = list_append(marks, :marks)',
        ConditionExpression: 'NOT contains(marks, :mark)',
        ExpressionAttributeValues: { ':marks': [name], ':mark': name },
      };
      try {
        await transact(table, [{ update }]);
        changed += 1;
      } catch (error) {
        if (!(error instanceof ConditionFailedError)) throw error;
      }
    }
    await afterStep();
    return { next, changed };
  };
  return { name, step };
}

async function writeOldThings(): Promise<void> {
  await deleteItems(stores.table, (await scan(stores.table)) as unknown as Key[]);
  for (const place of places) await putItem(stores.table, { ...place, marks: [] });
}
beforeEach(writeOldThings);

const run = (migrations: Migration[], options: { table?: Table; graceInSeconds?: number; at?: string } = {}) =>
  runMigrations(options.table ?? stores.table, {
    now: options.at ?? now,
    graceInSeconds: options.graceInSeconds ?? 0,
    migrations,
  });
const state = (name: string) => getItem(stores.table, migrationKeys.state(name));
const marks = async () => (await Promise.all(places.map((place) => getItem(stores.table, place)))).map((item) => item?.['marks']);
const all = <T>(value: T) => places.map(() => value);

describe('runMigrations', () => {
  it('does every migration, in order, and records when each was done and how many items it changed', async () => {
    expect(await run([marking('first'), marking('second')])).toBe(0);
    expect(await marks()).toEqual(all(['first', 'second']));
    expect(await state('first')).toMatchObject({ seen_at: now, done_at: now, changed: itemCount });
    expect(await state('second')).toMatchObject({ seen_at: now, done_at: now, changed: itemCount });
  });

  it('reads one query and writes nothing when all are done', async () => {
    const migrations = [marking('first'), marking('second')];
    await run(migrations);
    stores.proxy.reset();
    expect(await run(migrations, { table: stores.mortal })).toBe(0);
    expect(stores.proxy.calls.map(({ operation }) => operation)).toEqual(['Query']);
  });

  it('begins a migration only when functions of the version before have had time to finish', async () => {
    expect(await run([marking('late')], { graceInSeconds: 3600 })).toBe(1);
    expect(await marks()).toEqual(all([]));
    expect(await run([marking('late')], { graceInSeconds: 3600, at: anHourLater })).toBe(0);
    expect(await marks()).toEqual(all(['late']));
    expect(await state('late')).toMatchObject({ seen_at: now, done_at: anHourLater });
  });

  it('begins all migrations after the same time', async () => {
    const migrations = [marking('early'), marking('later')];
    expect(await run(migrations, { graceInSeconds: 3600 })).toBe(2);
    expect(await run(migrations, { graceInSeconds: 3600, at: anHourLater })).toBe(0);
    expect(await marks()).toEqual(all(['early', 'later']));
  });

  it('stops when too little time is left for a step, and continues there in the next call', async () => {
    let isTimeOver = false;
    const hurried = { ...stores.table, deadline: () => new Deadline(isTimeOver ? 3_000 : 60_000) };
    const timeEnds = async () => {
      isTimeOver = true;
    };
    expect(await run([marking('slow', timeEnds), marking('next')], { table: hurried })).toBe(2);
    expect(await state('slow')).toMatchObject({ steps: 1, cursor: expect.anything() });
    expect(await state('next')).toMatchObject({ steps: 0 });
    expect(await run([marking('slow'), marking('next')])).toBe(0);
    expect(await marks()).toEqual(all(['slow', 'next']));
  });

  it('changes every item once and loses none, whichever call a runner dies at', async () => {
    const calls = await dieAtEveryCall(
      stores,
      writeOldThings,
      () => run([marking('mortal')], { table: stores.mortal }),
      async (_, death) => {
        expect([death, await run([marking('mortal')])]).toEqual([death, 0]);
        expect([death, await marks()]).toEqual([death, all(['mortal'])]);
      },
    );
    expect(calls).toBeGreaterThan(20);
  });

  it('changes every item once though a second runner does all of it between a step and its record', async () => {
    let others: number | undefined;
    const whileTheOtherRuns = async () => {
      others ??= await run([marking('twice')]);
    };
    expect(await run([marking('twice', whileTheOtherRuns)])).toBe(1);
    expect(others).toBe(0);
    expect(await run([marking('twice')])).toBe(0);
    expect(await marks()).toEqual(all(['twice']));
  });

  it('changes every item once while four run at the same time', async () => {
    await Promise.all(Array.from({ length: 4 }, () => run([marking('crowd'), marking('after')])));
    expect(await run([marking('crowd'), marking('after')])).toBe(0);
    expect(await marks()).toEqual(all(['crowd', 'after']));
    expect(await queryPartition(stores.table, migrationKeys.partition)).toHaveLength(2);
  });

  it('reports a step that fails, and repeats it with the next call', async () => {
    const failing = marking('failing', () => Promise.reject(new Error('A step failed.')));
    await expect(run([failing])).rejects.toThrow('A step failed.');
    expect(await state('failing')).toMatchObject({ steps: 0, changed: 0 });
    expect(await run([marking('failing')])).toBe(0);
    expect(await marks()).toEqual(all(['failing']));
  });
});
