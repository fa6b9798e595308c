import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeAsset } from '../../../shared/assets/change-asset.ts';
import { markForDeletion } from '../../../shared/assets/mark-for-deletion.ts';
import { readAsset } from '../../../shared/assets/read-asset.ts';
import { listCommands } from '../../../shared/runs/list-commands.ts';
import { recordReports } from '../../../shared/runs/record-reports.ts';
import { changeClaim, readClaim } from '../../../shared/runs/claim.ts';
import { deliverStop, offerRun } from '../../../shared/runs/waiting-steps.ts';
import { recordOutcome } from '../../../shared/runs/end-run.ts';
import { runOverErrorName } from '../../../shared/runs/state-machine.ts';
import { sweepRuns } from '../../../shared/runs/sweep-runs.ts';
import { computationKey } from '../../../shared/computations/read-computation.ts';
import { readRun } from '../../../shared/computations/read-run.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { cvmKeys, keyToWrite } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { transact, Transaction } from '../../../shared/table/transaction.ts';
import { aRun, aRunOnNewCvm, byAlice, endRunWith, startStores, type Stores } from '../../support/builders-store.ts';
import { beforeTheNextTransaction } from '../../support/interleave.ts';
import { startIdleStepFunctions } from '../../support/lifecycle-idle-step-functions.ts';

let stores: Stores;
/** The error of each failed task by its token. */
const failedTasks = new Map<unknown, unknown>();
beforeAll(async () => {
  stores = await startStores();
  const recordFailures = (next: (args: { input: object }) => Promise<never>) => (args: { input: object }) => {
    const { taskToken, error } = args.input as Record<string, unknown>;
    if (error !== undefined) failedTasks.set(taskToken, error);
    return next(args);
  };
  stores.executions.client.middlewareStack.add(recordFailures as never, { step: 'initialize' });
});
afterAll(() => stores.stop());

const domain = 'd1';
const now = () => new Date().toISOString();

const aStartedRun = () => aRunOnNewCvm(stores, domain);

const offer = (run: Awaited<ReturnType<typeof aStartedRun>>, task_token: string) =>
  offerRun(stores.table, stores.executions, { run, task_token }, { now: now(), acceptInSeconds: 60 });
const commands = async (cvmId: string) => (await listCommands(stores.table, domain, cvmId, now())).commands;
const stop = (run: { computation_id: string }) =>
  stopRun(stores.table, stores.executions, { domain, computationId: run.computation_id, ...byAlice });

describe('offerRun', () => {
  it('offers the same command when it is retried before the CVM has answered', async () => {
    const run = await aStartedRun();
    await offer(run, 'first');
    const [before] = await commands(run.cvm_id);
    await offer(run, 'second');
    expect(await commands(run.cvm_id)).toMatchObject([{ id: before?.id, type: 'run', run_id: run.run_id }]);
    expect(await readClaim(stores.table, run)).toMatchObject({ offer_token: 'second' });
  });

  it('offers nothing when it is retried after the CVM has accepted', async () => {
    const run = await aStartedRun();
    await offer(run, 'first');
    const [command] = await commands(run.cvm_id);
    const report = { id: '1', run_id: run.run_id, type: 'accepted' as const, command_id: String(command?.id), reason: '' };
    await recordReports(stores.table, stores.executions, { domain, cvmId: run.cvm_id, reports: [report], now: now() });
    await offer(run, 'second');
    expect(await commands(run.cvm_id)).toEqual([]);
    expect(await readClaim(stores.table, run)).toMatchObject({ offer_token: 'first' });
  });

  it('fails its task when the run was stopped before, and the run is cancelled', async () => {
    const run = await aStartedRun();
    await stop(run);
    await offer(run, 'token of a stopped run');
    expect(failedTasks.get('token of a stopped run')).toBe(runOverErrorName);
    await recordOutcome(stores.table, stores.executions, { run }, now());
    expect(await readRun(stores.table, domain, run.run_id)).toMatchObject({
      status: 'cancelled',
      reason: 'Stopped before the run was offered to the CVM.',
    });
  });

  it('fails its task when an input was deleted while the run started, and the run fails', async () => {
    const run = await aStartedRun();
    const asset = await readAsset(stores.table, domain, run.algorithm);
    const transaction = new Transaction();
    removeAsset(transaction, domain, asset);
    await transaction.commit(stores.table);
    await offer(run, 'token of a run without an algorithm');
    expect(failedTasks.get('token of a run without an algorithm')).toBe(runOverErrorName);
    expect(await commands(run.cvm_id)).toEqual([]);
    await recordOutcome(stores.table, stores.executions, { run }, now());
    expect(await readRun(stores.table, domain, run.run_id)).toMatchObject({
      status: 'failed',
      reason: `The asset ${run.algorithm} was deleted while the run started.`,
    });
  });

  it('offers the run when a deletion of an input died, and the next run may start with that input', async () => {
    const run = await aStartedRun();
    const asset = await readAsset(stores.table, domain, run.algorithm);
    await markForDeletion(stores.table, domain, asset, now());
    await offer(run, 'token of a run with its algorithm');
    expect(await commands(run.cvm_id)).toHaveLength(1);
    await endRunWith(stores, domain, run.run_id);
    await aRun(stores, domain, run.computation_id, run.cvm_id);
  });

  it('does not read the inputs when it offers a run again', async () => {
    const run = await aStartedRun();
    await offer(run, 'first');
    const transaction = new Transaction();
    removeAsset(transaction, domain, await readAsset(stores.table, domain, run.algorithm));
    await transaction.commit(stores.table);
    await offer(run, 'second');
    expect(await readClaim(stores.table, run)).toMatchObject({ offer_token: 'second' });
    expect(await commands(run.cvm_id)).toHaveLength(1);
  });

  it('offers nothing when a stop is requested and delivered before its transaction', async () => {
    const run = await aStartedRun();
    beforeTheNextTransaction(stores.mortal, async () => {
      await stop(run);
      await deliverStop(stores.table, stores.executions, { run, task_token: 'stop' }, { now: now(), stopInSeconds: 60 });
    });
    await offerRun(
      stores.mortal,
      stores.executions,
      { run, task_token: 'token of a late offer' },
      { now: now(), acceptInSeconds: 60 },
    );
    expect(failedTasks.get('token of a late offer')).toBe(runOverErrorName);
    expect((await commands(run.cvm_id)).map(({ type }) => type)).toEqual(['stop']);
  });

  it('leaves the end to the stop when it is retried after one, because the CVM may have the first offer', async () => {
    const run = await aStartedRun();
    await offer(run, 'first');
    await stop(run);
    await offer(run, 'second');
    const claim = await readClaim(stores.table, run);
    expect(claim).toMatchObject({ offer_token: 'second' });
    expect(claim).not.toHaveProperty('outcome');
    expect(await readRun(stores.table, domain, run.run_id)).toMatchObject({ status: 'stopping' });
  });

  it('fails its task for a run that is over, and does not offer a newer run on the same CVM', async () => {
    const run = await aStartedRun();
    await endRunWith(stores, domain, run.run_id);
    await aRun(stores, domain, run.computation_id, run.cvm_id);
    await offer(run, 'token of an ended run');
    expect(failedTasks.get('token of an ended run')).toBe(runOverErrorName);
    expect(await commands(run.cvm_id)).toEqual([]);
  });
});

describe('listCommands', () => {
  it('returns two commands of one run', async () => {
    const run = await aStartedRun();
    await offer(run, 'token');
    const claim = await readClaim(stores.table, run);
    const transaction = new Transaction();
    if (claim) changeClaim(transaction, claim, { set: { stop_token: 'token' } });
    await transaction.commit(stores.table);
    const { manifest: _, agent_config: _config, ...command } = (await commands(run.cvm_id))[0] ?? {};
    await putItem(stores.table, { ...cvmKeys.command(run, 'stop'), ...command, type: 'stop' });
    expect((await commands(run.cvm_id)).map(({ type }) => type).sort()).toEqual(['run', 'stop']);
  });
});

describe('recordOutcome', () => {
  it('changes nothing when it is repeated', async () => {
    const run = await aStartedRun();
    await recordOutcome(stores.table, stores.executions, { run, endedBy: 'silence' }, now());
    const ended = await readRun(stores.table, domain, run.run_id);
    await recordOutcome(stores.table, stores.executions, { run, endedBy: 'run_timeout' }, now());
    expect(await readRun(stores.table, domain, run.run_id)).toEqual(ended);
    expect(ended).toMatchObject({ status: 'failed', reason: 'The CVM fell silent.' });
  });
});

describe('sweepRuns', () => {
  it('ends the other runs when one cannot be ended, and throws an AggregateError that names the run', async () => {
    const [broken, orphan] = [await aStartedRun(), await aStartedRun()];
    const key = computationKey(domain, broken.computation_id);
    const row = await getItem(stores.table, key);
    await transact(stores.table, [{ delete: { Key: keyToWrite(key) } }]);
    const lost = await startIdleStepFunctions();
    const message = expect.stringMatching(`^run ${broken.run_id} of the domain ${domain}: `) as string;
    const failure = expect.objectContaining({ message }) as Error;
    const swept = sweepRuns(stores.table, lost.executions, now(), { graceInSeconds: 0 });
    await expect(swept).rejects.toMatchObject({ name: 'AggregateError', errors: [failure] });
    expect(await readRun(stores.table, domain, orphan.run_id)).toMatchObject({ status: 'failed' });
    await putItem(stores.table, { ...keyToWrite(key), ...row });
    expect(await sweepRuns(stores.table, lost.executions, now(), { graceInSeconds: 0 })).toBeGreaterThanOrEqual(1);
    expect(await readRun(stores.table, domain, broken.run_id)).toMatchObject({ status: 'failed' });
    await lost.stop();
  });

  it('ends the other runs when the claim of one is of a newer version, and throws an AggregateError that names the claim', async () => {
    const [newer, orphan] = [await aStartedRun(), await aStartedRun()];
    const key = cvmKeys.claim(domain, newer.cvm_id);
    const claim = { ...keyToWrite(key), ...(await getItem(stores.table, key)) };
    await putItem(stores.table, { ...claim, schema: 2 });
    const lost = await startIdleStepFunctions();
    const sweep = () => sweepRuns(stores.table, lost.executions, now(), { graceInSeconds: 0 });
    const message = expect.stringContaining(`${domain}#${newer.cvm_id} cannot be read`) as string;
    const unread = expect.objectContaining({ message }) as Error;
    await expect(sweep()).rejects.toMatchObject({ name: 'AggregateError', errors: [unread] });
    expect(await readRun(stores.table, domain, orphan.run_id)).toMatchObject({ status: 'failed' });
    expect(await readRun(stores.table, domain, newer.run_id)).toMatchObject({ status: 'running' });
    await putItem(stores.table, claim);
    expect(await sweep()).toBe(1);
    await lost.stop();
  });
});
