import { randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { keysOf } from 'computation-management-counted-list/keys';
import { fillWorld, aRegisteredCvm, aStartedRun, type BenchWorld } from '../../bench/bench-world.ts';
import { endpointCases } from '../../bench/endpoint-cases.ts';
import { taskCases } from '../../bench/task-cases.ts';
import { localFunctions } from '../../../local/functions/local-functions.ts';
import { routes, type RouteName } from '../../../shared/endpoints/endpoints.ts';
import { markForDeletion, readAssetToChange } from '../../../shared/rows/asset.ts';
import { unlinkAsset } from '../../../shared/assets/link-asset.ts';
import { readRegistration, setCommandStream } from '../../../shared/rows/command-stream.ts';
import { takeTokens } from '../../../shared/http/domain-limit.ts';
import { takesKey, type Route } from '../../../shared/http/route.ts';
import { reads as actionsOfReads, type TableAction } from '../../../shared/runtime/uses.ts';
import { keepProcessOfRun } from '../../../shared/rows/agent-tokens.ts';
import { bindAgent, readAgentRecord, recordAgentProcess } from '../../../shared/attestation/agent-record.ts';
import { writeSweepState } from '../../../shared/lifecycle/sweep-runs.ts';
import { releaseKeys, writableKey } from '../../../shared/table/keys.ts';
import { openList, rowLists } from '../../../shared/table/row-lists.ts';
import type { Table } from '../../../shared/table/table.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { byAlice, type Stores } from '../../support/builders-store.ts';
import { httpEvent } from '../../support/http-event.ts';
import { testClock } from '../../support/test-clock.ts';
import { setTestEnvironment } from '../../support/test-environment.ts';

const reads = new Set<TableAction>(actionsOfReads);

/** The tasks that are steps of runs. Tasks of maintenance are left out, because they would work for other domains too. */
const stepsOfRuns = Object.entries(taskCases).filter(
  ([name]) => name.startsWith('lifecycle/') && name !== 'lifecycle/sweep-runs',
);

/**
 * Fills the domain d1 with everything that the service writes: every endpoint that may write, in every case, with an Idempotency-Key
 * where it takes one, every step of runs in every state, and what the gateway records of agents. Nothing is purged or folded.
 */
export async function fillDomain(stores: Stores): Promise<BenchWorld> {
  setTestEnvironment(stores.direct);
  const invoke = localFunctions({ clock: testClock({ skipsWaits: true }) });
  const world = await fillWorld(stores, 3);
  const call = async (name: string, event: unknown) => {
    const answer = (await invoke(name, event)) as { statusCode?: number; body?: string } | null;
    if ((answer?.statusCode ?? 200) >= 300) throw new Error(`${name}: ${answer?.body ?? ''}`);
  };
  for (const route of (routes as readonly Route[]).filter(({ uses }) => !uses.table?.every((each) => reads.has(each)))) {
    for (const prepare of Object.values(endpointCases[route.name as RouteName])) {
      const headers = takesKey(route) ? { 'idempotency-key': randomUUID() } : {};
      await call(route.name, httpEvent(route.method, world.domain, await prepare(world), headers));
    }
  }
  for (const name of ['todo/get-todo', 'find/find'] as const)
    for (const index of Object.values(endpointCases[name])) await index(world);
  for (const [name, cases] of stepsOfRuns) for (const prepare of Object.values(cases)) await call(name, await prepare(world));
  await taskCases['maintenance/purge']['a computation with a run']?.(world);
  await taskCases['maintenance/receive-upload']['an awaited upload']?.(world);
  await recordAgent(world);
  const used = await aStartedRun(world);
  await unlinkAsset(stores.table, {
    domain: world.domain,
    assetId: used.algorithm,
    computationId: used.computation_id,
    ...byAlice,
  });
  const asset = await readAssetToChange(stores.table, world.domain, used.algorithm);
  await markForDeletion(stores.table, world.domain, asset, byAlice.now);
  for (const list of [rowLists.assets(world.domain), rowLists.ownedComputations(world.domain, 'alice')]) {
    await openList(stores.table, list).fold({ least: 1 });
    const { pk, sk } = keysOf(list.name).node('node'); // only trees with hundreds of members have one
    await putItem(stores.table, { ...writableKey(pk, sk) });
  }
  await takeTokens(
    stores.table,
    { perSecond: 1, burst: 10 },
    { domain: world.domain, user: 'alice', tokens: 1, now: Date.now() },
  );
  const keysOfReleases = [
    releaseKeys.run(world.domain, used.run_id),
    releaseKeys.session(world.domain, 'session'),
    releaseKeys.evidence(world.domain, 'session', 0),
    releaseKeys.ask(world.domain, 'alice', randomUUID()),
  ];
  for (const key of keysOfReleases) await putItem(stores.table, { ...key }); // a guest would make them
  const place = { domain: world.domain, cvm_id: 'cvm-1' };
  await writeSweepState(stores.table, { suspect: place, other: { domain: 'd10', cvm_id: 'cvm-1' } });
  return world;
}

async function recordAgent(world: BenchWorld): Promise<void> {
  const { table } = world.stores;
  const { run_id, computation_id } = await aStartedRun(world);
  const cvm = { domain: world.domain, cvmId: await aRegisteredCvm(table, world.domain) };
  const commandStream = { gateway: 'gateway-1', stream: 'stream-1' };
  await setCommandStream(table, cvm, { commandStream, instead: undefined, now: byAlice.now });
  const before = await readAgentRecord(table, cvm);
  await recordAgentProcess(table, cvm, { before, isNew: true, attestation_hash: '00', stream: 'stream-1' });
  const { stream } = commandStream;
  const { certificate = '' } = (await readRegistration(table, cvm)) ?? {};
  await bindAgent(table, cvm, { run_id, computation_id, stream, certificate });
  await keepProcessOfRun(table, { ...cvm, run_id, computation_id, process: 'process' });
}

/** Returns all items of the table, by their keys. */
export async function itemsOf({ name, document }: Table): Promise<Record<string, unknown>> {
  const items: Record<string, unknown> = {};
  let start: Record<string, unknown> | undefined;
  do {
    const page = await document.send(new ScanCommand({ TableName: name, ExclusiveStartKey: start, ConsistentRead: true }));
    for (const item of page.Items ?? []) items[`${item['pk']} ${item['sk']}`] = item;
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
}
