import { describe, expect, it } from 'vitest';
import { Deadline, systemClock } from '../../../shared/runtime/deadline.ts';
import { deleteComputation } from '../../../shared/computations/delete-computation.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { purgeKeys, runKeys } from '../../../shared/table/keys.ts';
import type { Table } from '../../../shared/table/table.ts';
import { putItems } from '../../../shared/table/writes.ts';
import { cutOffAfter, itemsNaming } from '../../support/builders-purge.ts';
import { allowed, aComputation, aRunOnNewCvm, endRunWith, startStores } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { tableThrough, type Command } from '../../support/embedded-table.ts';

const stores = sharedByTests(startStores);

const callInMilliseconds = 100;
/** The number of snapshots of a large computation. A purge takes two calls for 24 of them. */
const manySnapshots = 1_200;

/** Deletes a computation as a process would that died after its commit: nothing is purged. */
async function deleteOnly(domain: string, id: string): Promise<void> {
  await cutOffAfter(2, stores, () => deleteComputation(stores.mortal, { domain, id, permit: allowed }));
}

/** Deletes a computation whose purge takes more than eight turns. @returns the identifier of the computation */
async function aBigPurge(domain: string): Promise<string> {
  const id = await aComputation(stores.table, domain);
  const names = Array.from({ length: manySnapshots }, (_, number) => `left-${number}`);
  await putItems(
    stores.table,
    names.map((run_id) => ({ ...runKeys.snapshot(id, run_id), run_id })),
  );
  await deleteOnly(domain, id);
  return id;
}

/** Deletes a computation whose run is still in the list of runs. @returns the identifiers of the computation and of the run */
async function aSmallPurge(domain: string): Promise<{ id: string; run: string }> {
  const { computation_id: id, run_id: run } = await aRunOnNewCvm(stores, domain);
  await endRunWith(stores, domain, run);
  await deleteOnly(domain, id);
  return { id, run };
}

/** Returns a table with a clock of its own, on which only calls of the table take time. @param onCall called before each call */
function timedTable(onCall: (time: number, command: Command) => void | Promise<void>): Table {
  let time = 0;
  const clock = { ...systemClock, now: () => time, steady: () => time };
  const table = tableThrough(stores.table, async (send, command) => {
    time += callInMilliseconds;
    await onCall(time, command);
    return await send();
  });
  return { ...table, deadline: () => new Deadline(5_000, clock, { functionTime: 900_000 - time }) };
}

const isReadOfMarkers = ({ input }: Command) => purgeKeys.shards.includes(String(input.ExpressionAttributeValues?.[':pk']));
const busyDomains = ['b1', 'b2', 'b3'];

describe('a call of the purge', () => {
  it('finishes a small deletion that comes meanwhile within seconds, beside the big ones of three other domains', async () => {
    const ids: string[] = [];
    for (const domain of busyDomains) ids.push(await aBigPurge(domain));
    let small: { id: string; run: string } | undefined;
    const times = { came: 0, listed: 0, over: 0 };
    const table = timedTable(async (time, { input }) => {
      if (time >= 2_000 && times.came === 0) {
        times.came = time;
        small = await aSmallPurge('small');
      }
      if (small && JSON.stringify(input).includes(small.run)) times.listed = time;
      times.over = time;
    });
    expect(await purgeAll(table, stores.content)).toEqual({ purged: 4, waiting: 0 });
    expect(await itemsNaming(stores.table, [...ids, small?.id ?? ''])).toEqual([]);
    // Five seconds until the next read, which takes nine calls, three turns and its own one, each with up to eight calls of its last part.
    expect(times.listed - times.came).toBeLessThan(5_000 + 9 * callInMilliseconds + 4 * (1_000 + 8 * callInMilliseconds));
    expect(times.over).toBeGreaterThan(30_000);
  });

  it('finishes a small deletion before a big one of its domain that began before it', async () => {
    const big = await aBigPurge('d3');
    let small: { id: string } | undefined;
    const times = { small: 0, over: 0 };
    const table = timedTable(async (time, { input }) => {
      if (time >= 2_000) small ??= await aSmallPurge('d3');
      if (small && JSON.stringify(input).includes(small.id)) times.small = time;
      times.over = time;
    });
    expect(await purgeAll(table, stores.content)).toEqual({ purged: 2, waiting: 0 });
    expect(await itemsNaming(stores.table, [big, small?.id ?? ''])).toEqual([]);
    expect(times.small).toBeLessThan(times.over - 1_000);
  });

  it('goes on with what it knows if it cannot read again, and fails in the end', async () => {
    const id = await aBigPurge('d1');
    const table = timedTable((time, command) => {
      if (time > 5_000 && isReadOfMarkers(command)) throw new Error('The table is broken.');
    });
    const message = expect.stringContaining('The table is broken.') as string;
    const errors = expect.arrayContaining([expect.objectContaining({ message })]) as Error[];
    await expect(purgeAll(table, stores.content)).rejects.toMatchObject({ errors });
    expect(await itemsNaming(stores.table, [id])).toEqual([]);
  });

  it('leaves to the next call what it could not finish, wherever it died', async () => {
    for (const diesAt of [1_200, 2_300, 6_100]) {
      const ids = [await aBigPurge('d1'), await aBigPurge('d2')];
      const table = timedTable((time) => {
        if (time > diesAt) throw new Error('The process died.');
      });
      await expect(purgeAll(table, stores.content)).rejects.toThrow();
      expect(await purgeAll(stores.table, stores.content)).toEqual({ purged: 2, waiting: 0 });
      expect(await itemsNaming(stores.table, ids)).toEqual([]);
    }
  });
});
