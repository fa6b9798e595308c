import { beforeEach, describe, expect, it } from 'vitest';
import { deleteComputation } from '../../../shared/deletion/delete-computation.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { runMigrations } from '../../../shared/migrations/run-migrations.ts';
import { claimKeys } from '../../../shared/runs/claim.ts';
import { offerRun } from '../../../shared/runs/offer-run.ts';
import { listCommands } from '../../../shared/runs/list-commands.ts';
import type { RunReference } from '../../../shared/runs/run-reference.ts';
import { keyToWrite, migrationKeys, runKeys, type Key } from '../../../shared/table/keys.ts';
import { getItem, type Table } from '../../../shared/table/table.ts';
import { deleteItems } from '../../../shared/table/writes.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { dieAtEveryCall } from '../../support/builders-purge.ts';
import { allowed, aRun, aRunOnNewCvm, byAlice, endRunWith, startStores } from '../../support/builders-store.ts';
import { inconsistencies, scan } from '../../support/lifecycle-inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);
const clear = async () => deleteItems(stores.table, (await scan(stores.table)) as unknown as Key[]);
beforeEach(clear);

const domain = 'd1';
const privateKey = 'PRIVATE KEY';

const migrate = (table: Table = stores.table) => runMigrations(table, { now: byAlice.now, graceInSeconds: 0 });
const changed = async () => (await getItem(stores.table, migrationKeys.state('server-keys-of-ended-runs')))?.['changed'];

const aStartedRun = () => aRunOnNewCvm(stores, domain);

/** Starts a run in the form of earlier versions: the snapshot holds the key, and the claim does not mention it. */
async function anEarlierRun(server_key = privateKey): Promise<RunReference> {
  const run = await aStartedRun();
  const [claim] = claimKeys(run);
  const snapshot = runKeys.snapshot(run.computation_id, run.run_id);
  const values = { ExpressionAttributeValues: { ':key': server_key } };
  await transact(stores.table, [
    {
      update: { Key: snapshot, UpdateExpression: 'SET agent_config.server_key = :key REMOVE #schema', ...values, ...schemaName },
    },
    { update: { Key: keyToWrite(claim), UpdateExpression: 'REMOVE has_server_key, #schema', ...schemaName } },
  ]);
  return run;
}
const schemaName = { ExpressionAttributeNames: { '#schema': 'schema' } };

/** A run that earlier versions started and ended. */
async function anEarlierEndedRun(): Promise<RunReference> {
  const run = await aStartedRun();
  await endRunWith(stores, domain, run.run_id);
  const update = {
    Key: runKeys.snapshot(run.computation_id, run.run_id),
    UpdateExpression: 'SET agent_config.server_key = :key',
    ExpressionAttributeValues: { ':key': privateKey },
  };
  await transact(stores.table, [{ update }]);
  return run;
}

const snapshotOf = ({ computation_id, run_id }: RunReference) => getItem(stores.table, runKeys.snapshot(computation_id, run_id));
const keyIn = async (run: RunReference) =>
  ((await snapshotOf(run))?.['agent_config'] as Record<string, unknown> | undefined)?.['server_key'];
const itemsWithKey = async () => (await scan(stores.table)).filter((item) => JSON.stringify(item).includes(privateKey));

describe('the migration server-keys-of-ended-runs', () => {
  it('removes the key from the snapshots of runs that are over, and changes nothing else of them', async () => {
    const runs = [await anEarlierEndedRun(), await anEarlierEndedRun(), await anEarlierEndedRun()];
    const before = await Promise.all(runs.map(snapshotOf));
    expect(await migrate()).toBe(0);
    expect(await changed()).toBe(runs.length);
    expect(await itemsWithKey()).toEqual([]);
    const withKey = (item: unknown) => {
      const { agent_config, ...rest } = item as { agent_config: object };
      return { ...rest, agent_config: { ...agent_config, server_key: privateKey } };
    };
    expect((await Promise.all(runs.map(snapshotOf))).map(withKey)).toEqual(before);
  });

  it('does not touch a snapshot without a key', async () => {
    await anEarlierRun('');
    await migrate();
    expect(await changed()).toBe(0);
  });

  it('leaves the key of an active run to its CVM until the end of the run, which removes it', async () => {
    const run = await anEarlierRun();
    await offerRun(stores.table, stores.executions, { run, task_token: 'token' }, { now: byAlice.now, acceptInSeconds: 3600 });
    await migrate();
    const { commands } = await listCommands(stores.table, domain, run.cvm_id, byAlice.now);
    expect(commands).toMatchObject([{ run_id: run.run_id, agent_config: { server_key: { plain: privateKey } } }]);
    await endRunWith(stores, domain, run.run_id);
    expect(await itemsWithKey()).toEqual([]);
  });

  it('removes the key at the end of a run without waiting for the migration', async () => {
    const run = await anEarlierRun();
    await endRunWith(stores, domain, run.run_id);
    expect(await keyIn(run)).toBeUndefined();
  });

  it('leaves no key of an ended run, whichever call the migration dies at', async () => {
    const calls = await dieAtEveryCall(
      stores,
      async () => {
        await clear();
        return await anEarlierEndedRun();
      },
      () => migrate(stores.mortal),
      async (_, death) => {
        expect([death, await migrate()]).toEqual([death, 0]);
        expect([death, ...(await itemsWithKey())]).toEqual([death]);
      },
    );
    expect(calls).toBeGreaterThan(20);
  });

  it('removes the keys of ended runs alone while runs start and end and computations are deleted', async () => {
    const ended = await Promise.all(Array.from({ length: 6 }, anEarlierEndedRun));
    const active = await Promise.all(Array.from({ length: 6 }, () => anEarlierRun()));
    const [deleted, ...kept] = ended;
    const traffic = async () => {
      for (const run of active.slice(3)) {
        await endRunWith(stores, domain, run.run_id);
        await aRun(stores, domain, run.computation_id, run.cvm_id);
      }
      if (deleted) await deleteComputation(stores.table, { domain, id: deleted.computation_id, permit: allowed });
      await purgeAll(stores.table, stores.content);
    };
    await Promise.all([traffic(), migrate()]);
    expect(await migrate()).toBe(0);
    expect(await Promise.all(kept.map(keyIn))).toEqual(kept.map(() => undefined));
    expect(await Promise.all(active.map(keyIn))).toEqual([privateKey, privateKey, privateKey, undefined, undefined, undefined]);
    expect(deleted && (await snapshotOf(deleted))).toBeUndefined();
    expect(inconsistencies(await scan(stores.table))).toEqual([]);
  });
});
