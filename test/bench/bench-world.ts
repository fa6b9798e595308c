import { randomUUID } from 'node:crypto';
import { storeLines } from '../../shared/rows/log-lines.ts';
import { releaseKeys, runKeys } from '../../shared/table/keys.ts';
import { type Table, getItem } from '../../shared/table/table.ts';
import { putItem } from '../../shared/table/writes.ts';
import { registerCvm } from '../../shared/cvms/register-cvm.ts';
import { newCvmBody } from '../support/cvm-certificate.ts';
import type { CvmInput } from '../../shared/cvms/cvm-input.ts';
import { linkAsset } from '../../shared/assets/link-asset.ts';
import { recordReports } from '../../shared/cvms/record-reports.ts';
import { readClaim, type Claim } from '../../shared/rows/claim.ts';
import { offerRun } from '../../shared/lifecycle/run-steps.ts';
import { stopRun } from '../../shared/runs/stop-run.ts';
import {
  aComputation,
  aKey,
  anAsset,
  aReadyComputation,
  aRun,
  aRunOnNewCvm,
  byAlice,
  endRunWith,
  keyAsset,
  type StartedRun,
  type Stores,
} from '../support/builders-store.ts';

/** A domain with data for measurements. Cases read the data, and create the items that they change. */
export interface BenchWorld {
  stores: Stores;
  domain: string;
  /** A computation with an algorithm, a dataset, two keys and an ended run. */
  known: { id: string; algorithm: string; dataset: string; run: string };
}

const domain = 'd1';

/** Fills a domain with the computations of a `BenchWorld`. @param computations the number of computations beside the known one */
export async function fillWorld(stores: Stores, computations = 60): Promise<BenchWorld> {
  const { table } = stores;
  for (let made = 0; made < computations; made++) await aComputation(table, domain);
  const { id, algorithm } = await aReadyComputation(stores, domain);
  const dataset = await anAsset(stores, domain, aDataset('known'));
  await linkAsset(table, { domain, assetId: dataset, computationId: id, ...byAlice });
  await aKey(table, domain, id, 'bob');
  const run = await aRun(stores, domain, id);
  await endRunWith(stores, domain, run);
  return { stores, domain, known: { id, algorithm, dataset, run } };
}

export const aDataset = (name: string) => ({ file_name: `${name}.csv`, asset_type: 'dataset' as const });

/** Stores a request for the key of an asset of alice, which waits for her broker. Returns its identifier. */
export async function anAskedKey({ stores, domain, known }: BenchWorld): Promise<string> {
  const id = randomUUID();
  const asked = { asset: known.dataset, computation_id: known.id, run_id: known.run, session: 'session' };
  const times = { asked_at: byAlice.now, expires_at: '2100-01-01T00:00:00.000Z' };
  await putItem(stores.table, { ...releaseKeys.ask(domain, 'alice', id), id, ...asked, ...times });
  return id;
}

/** Creates an asset with a key that its creator holds. */
export async function aKeyedAsset(stores: Stores, domain: string): Promise<string> {
  const id = await anAsset(stores, domain, { ...aDataset('keyed'), asset: btoa('setosa') });
  await keyAsset(stores.table, domain, id);
  return id;
}

let cvms = 0;

export const aCvm = () => `cvm-${++cvms}-of-bench`;

/** Registers a CVM that never sends anything, with a certificate if none is given. Returns its identifier. */
export async function aRegisteredCvm(table: Table, domain: string, given?: CvmInput): Promise<string> {
  const cvmId = aCvm();
  await registerCvm(table, { by: 'root', domain, cvmId, given: given ?? (await newCvmBody()), now: byAlice.now });
  return cvmId;
}

/** Creates a computation and starts a run of it. Returns the run, which has just been started. */
export const aStartedRun = ({ stores }: BenchWorld) => aRunOnNewCvm(stores, domain, aCvm());

/** Starts a run whose parties may read its log, and stores a line of the log. Returns the run. */
export async function aRunWithLog(world: BenchWorld): Promise<StartedRun> {
  const { table } = world.stores;
  const run = await aStartedRun(world);
  const key = runKeys.snapshot(run.computation_id, run.run_id);
  await putItem(table, { ...(await getItem(table, key)), ...key, log_access: 'parties' });
  const lines = [{ time: byAlice.now, level: 'info', message: 'Agent is ready' }];
  await storeLines(table, run, { lines, size_in_bytes: 100, at: Date.now(), part: '0' });
  return run;
}

/** A task token as long as those of AWS, which have some 0.6 to 1 KB. */
export const taskToken = 'T'.repeat(1_024);

/** Starts a run whose command is waiting for its CVM. Returns the run and the CVM's claim. */
export async function anOfferedRun(world: BenchWorld): Promise<StartedRun & { claim: Claim }> {
  const { table, executions } = world.stores;
  const run = await aStartedRun(world);
  await offerRun(table, executions, { run, task_token: taskToken }, { now: new Date().toISOString(), acceptInSeconds: 300 });
  const claim = await readClaim(table, run);
  if (!claim) throw new Error('The active run has no claim.');
  return { ...run, claim };
}

/** Starts a run, and lets its CVM accept the run. Returns the run. */
export async function anAcceptedRun(world: BenchWorld): Promise<StartedRun> {
  const { table, executions } = world.stores;
  const run = await anOfferedRun(world);
  const report = {
    id: 'accepted',
    run_id: run.run_id,
    type: 'accepted' as const,
    command_id: run.claim.run_command_id,
    reason: '',
  };
  await recordReports(table, executions, { domain, cvmId: run.cvm_id, reports: [report], now: byAlice.now });
  return run;
}

/** Starts a run and requests that it stops. Returns the run. */
export async function aStoppingRun(world: BenchWorld): Promise<StartedRun> {
  const { table, executions } = world.stores;
  const run = await anAcceptedRun(world);
  await stopRun(table, executions, { domain, computationId: run.computation_id, ...byAlice });
  return run;
}
