import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startDynamoDb, type LocalDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { updateAsset } from '../../shared/assets/update-asset.ts';
import { assetKey, readAsset } from '../../shared/rows/asset.ts';
import { defaultAgentConfig } from '../../shared/rows/agent-config.ts';
import { fieldsOf, computationKey, readComputation } from '../../shared/rows/computation.ts';
import { updateComputation } from '../../shared/computations/update-computation.ts';
import { deleteAsset } from '../../shared/assets/delete-asset.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { purgeAll } from '../../shared/deletion/purge-all.ts';
import { appendEvents } from '../../shared/journal/append-events.ts';
import { readHead } from '../../shared/journal/journal.ts';
import { readEvents } from '../../shared/events/read-events.ts';
import { linkAsset } from '../../shared/assets/link-asset.ts';
import { readManifest } from '../../shared/runs/read-manifest.ts';
import { startRun } from '../../shared/runs/start-run.ts';
import { computationKeys, journalKeys, lists, purgeKeys } from '../../shared/table/keys.ts';
import type { Table, Item } from '../../shared/table/table.ts';
import { transact } from '../../shared/table/transaction.ts';
import { clockOfTests, ownerOf } from '../support/append-to-journal.ts';
import { startAwsDynamoDb, type AwsDynamoDb } from '../support/aws-dynamodb/aws-dynamodb.ts';
import { commandsOn } from '../support/aws-dynamodb/table-commands.ts';
import { testClock } from '../support/test-clock.ts';
import {
  allowed,
  aComputation,
  aReadyComputation,
  anAsset,
  byAlice,
  startStores,
  type Stores,
  noKey,
} from '../support/builders-store.ts';
import { documentAt, patientDeadline } from '../support/embedded-table.ts';
import { inconsistencies, scan } from '../support/inconsistencies.ts';
import { untilTestEnds } from '../support/patience.ts';
import { readDefinition } from '../../shared/rows/definition.ts';

const domain = 'd1';
const clock = testClock({ start: 0, speed: 0 });

let engine: LocalDynamoDb;
let front: AwsDynamoDb;
let stores: Stores;
/** The table through the front; `stores.table` is the same table directly on the engine. */
let table: Table;
beforeAll(async () => {
  engine = await startDynamoDb();
  process.env['DYNAMODB_ENDPOINT'] = engine.endpoint;
  stores = await startStores({ bySdk: true });
  front = await startAwsDynamoDb(engine.endpoint, { clock });
  const document = documentAt(front.endpoint);
  table = { name: stores.table.name, document, deadline: patientDeadline };
});
afterAll(async () => {
  table.document.destroy();
  await front.stop();
  await stores.stop();
  await engine.stop();
});

/** Moves the time from timer to timer until the work is done. It stands still while nothing waits for a timer. */
async function finish<T>(work: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const watched = work.finally(() => (state.isOver = true));
  watched.catch(() => undefined);
  while (!state.isOver) {
    if (clock.timers() > 0) await clock.advanceToNext();
    await turn();
  }
  return await watched;
}

/** Reveals a transaction item by item and reads through the front at each step, until `look` ends it or all is visible. */
async function lookBetweenReveals(look: () => Promise<boolean>): Promise<boolean> {
  const endOfTransaction = 1;
  await clock.untilTimers(1); // all timers of a transaction are set at the same time
  while (clock.timers() > endOfTransaction) {
    await clock.advanceToNext();
    if (await look()) return true;
  }
  return false;
}

/** Waits until another call has met a conflict. By then it has read the items for its decision. */
function conflictWatch(): () => Promise<void> {
  const before = front.figures.conflicts;
  return () => vi.waitFor(() => expect(front.figures.conflicts).toBeGreaterThan(before), untilTestEnds);
}

/** The table for a call that may retry, and a promise for its pause before that. By then it has read for its decision. */
function pauseWatch(): { patient: Table; paused: Promise<void> } {
  const { promise: paused, resolve } = Promise.withResolvers<undefined>();
  const watched = {
    now: clock.now,
    wait: (milliseconds: number) => {
      resolve(undefined);
      return clock.wait(milliseconds);
    },
  };
  return { patient: { ...table, deadline: () => new Deadline(60_000, watched) }, paused };
}

const aDataset = (file_name: string) => anAsset(stores, domain, { file_name, asset_type: 'dataset' });

/** Returns the state of a computation that plain reads see at this moment. */
async function seenOf(id: string): Promise<{ row: Item; head: Item; parts: Item[] }> {
  const [row, head, parts] = await Promise.all([
    commandsOn(table).get(computationKey(domain, id)),
    commandsOn(table).get(journalKeys.head(id)),
    commandsOn(table).query(computationKeys.partition(id)),
  ]);
  return { row: row ?? {}, head: head ?? {}, parts: parts.items };
}

describe('while a transaction is partly visible', () => {
  it('events are listed while others are appended', async () => {
    const id = await aComputation(stores.table, domain);
    const event = { event_type: 'Progress', status: 'Running', originator: 'agent' as const, details: {}, lifecycle: false };
    const head = await readHead(table, id);
    const journal = await appendEvents(table, ownerOf(id), head, [event, event, event], clockOfTests);
    const appending = transact(table, journal.actions);
    const answers: Promise<unknown>[] = [];
    await lookBetweenReveals(async () => {
      for (const offset of [0, 1]) {
        const { patient, paused } = pauseWatch();
        const listing = readEvents(patient, id, {}, { limit: 10, offset });
        answers.push(listing.catch(String));
        await Promise.race([listing, paused]).catch(() => undefined);
      }
      return false;
    });
    await finish(Promise.all([appending, ...answers]));
    expect((await Promise.all(answers)).filter((answer) => typeof answer === 'string')).toEqual([]);
  });

  it('a run starts with every dataset that was linked before', async () => {
    for (let attempt = 0; attempt < 20; attempt++) {
      const { id } = await aReadyComputation(stores, domain);
      const before = await readHead(stores.table, id);
      const assetId = await aDataset(`run-${attempt}.csv`);
      const linking = linkAsset(table, { domain, assetId, computationId: id, ...byAlice });
      const isTrap = await lookBetweenReveals(async () => {
        const { row, head, parts } = await seenOf(id);
        return (
          row['dataset_count'] === 1 &&
          Number(head['count']) > before.count &&
          parts.every((part) => part['asset_id'] !== assetId)
        );
      });
      if (!isTrap) {
        await finish(linking);
        continue;
      }
      const untilConflict = conflictWatch();
      const starting = startRun(table, stores.executions, { domain, computationId: id, cvmId: `cvm-${attempt}`, ...byAlice });
      await untilConflict();
      const [{ runId }] = await finish(Promise.all([starting, linking]));
      const { dataset_count } = await readComputation(table, domain, id);
      const { manifest } = await readManifest(table, domain, id, runId);
      expect([dataset_count, manifest.datasets.length]).toEqual([1, 1]);
      return;
    }
    throw new Error('No transaction showed the row before the link.');
  });

  it('the later of two replacements of a computation decides its whole configuration', async () => {
    for (let attempt = 0; attempt < 20; attempt++) {
      const id = await aComputation(stores.table, domain);
      const before = await readHead(stores.table, id);
      const replace = (name: string, log_level: 'debug' | '') =>
        updateComputation(table, {
          domain,
          seal: noKey,
          id,
          by: 'alice',
          now: clockOfTests,
          decide: (row) => ({
            fields: { ...fieldsOf(row, row), name },
            attestation_policy: null,
            result_review: null,
            consumers: [],
            providers: [],
            agent_config: { ...defaultAgentConfig, log_level },
            permitted: allowed(),
          }),
        });
      const first = replace('first', 'debug');
      const isTrap = await lookBetweenReveals(async () => {
        const { row, head, parts } = await seenOf(id);
        return row['name'] === 'first' && Number(head['count']) > before.count && !JSON.stringify(parts).includes('debug');
      });
      if (!isTrap) {
        await finish(first);
        continue;
      }
      const untilConflict = conflictWatch();
      const second = replace('second', '');
      await untilConflict();
      await finish(Promise.all([first, second]));
      const { name } = await readComputation(table, domain, id);
      const { agent_config } = await readDefinition(table, id);
      expect([name, agent_config.log_level]).toEqual(['second', '']);
      return;
    }
    throw new Error('No transaction showed the row before the configuration.');
  });

  it('an asset is renamed in every computation that it is linked to', async () => {
    for (let attempt = 0; attempt < 20; attempt++) {
      const id = await aComputation(stores.table, domain);
      const assetId = await aDataset(`old-${attempt}.csv`);
      const before = await readAsset(stores.table, domain, assetId);
      const linking = linkAsset(table, { domain, assetId, computationId: id, ...byAlice });
      const isTrap = await lookBetweenReveals(async () => {
        const asset = await commandsOn(table).get(assetKey(domain, assetId));
        const { items } = await commandsOn(table).query(lists.linkedComputations(assetId).pk);
        return Number(asset?.['version']) > before.version && !items.some((item) => item['id'] === id);
      });
      if (!isTrap) {
        await finish(linking);
        continue;
      }
      const given = {
        file_name: `new-${attempt}.csv`,
        description: '',
        asset_type: 'dataset' as const,
        mime_type: '',
        user_key: '',
      };
      const untilConflict = conflictWatch();
      const renaming = updateAsset(table, stores.content, { domain, id: assetId, given, ...byAlice });
      await untilConflict();
      await finish(Promise.all([renaming, linking]));
      expect(inconsistencies(await scan(stores.table))).toEqual([]);
      return;
    }
    throw new Error('No transaction showed the asset before its list of computations.');
  });

  it('a purge of deleted assets passes over a deletion that is still in flight', async () => {
    for (let attempt = 0; attempt < 20; attempt++) {
      const id = await aComputation(stores.table, domain);
      const assetId = await aDataset(`deleted-${attempt}.csv`);
      await linkAsset(stores.table, { domain, assetId, computationId: id, ...byAlice });
      const deleting = deleteAsset(table, { domain, id: assetId, ...byAlice });
      const isTrap = await lookBetweenReveals(async () => {
        const marker = await commandsOn(table).get(purgeKeys.purge('asset', assetId));
        const asset = await commandsOn(table).get(assetKey(domain, assetId));
        return marker !== undefined && asset !== undefined;
      });
      if (!isTrap) {
        await finish(deleting);
        await purgeAll(stores.table, stores.content);
        continue;
      }
      const { patient, paused } = pauseWatch();
      const purging = purgeAll(patient, stores.content).then(
        () => 'purged',
        (error: unknown) => String(error),
      );
      await Promise.race([purging, paused]);
      const [purged] = await finish(Promise.all([purging, deleting]));
      expect(purged).toBe('purged');
      return;
    }
    throw new Error('No transaction showed the note of the purge before the deletion.');
  });
});
