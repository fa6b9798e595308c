import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeAsset, markForDeletion, readAsset } from '../../../shared/rows/asset.ts';
import { recordOutcome, awaitCvm, deliverStop, offerRun } from '../../../shared/lifecycle/run-steps.ts';
import { readClaim } from '../../../shared/rows/claim.ts';
import { listCommands } from '../../../shared/cvms/list-commands.ts';
import { recordReports } from '../../../shared/cvms/record-reports.ts';
import type { Report } from '../../../shared/cvms/report.ts';
import { runOverErrorName } from '../../../shared/lifecycle/state-machine.ts';
import { type RunReference, readRun } from '../../../shared/rows/run.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { cvmKeys } from '../../../shared/table/keys.ts';
import type { Table } from '../../../shared/table/table.ts';
import { aRun, aRunOnNewCvm, byAlice, endRunWith, startStores, type Stores } from '../../support/builders-store.ts';
import { afterTheNextTransaction, asReadBefore, beforeTheNextTransaction } from '../../support/interleave.ts';
import { recordTasks } from '../../support/simulated-step-functions.ts';

let stores: Stores;
let endedTasks: Map<string, string>;
beforeAll(async () => {
  stores = await startStores();
  endedTasks = recordTasks(stores.executions);
});
afterAll(() => stores.stop());

const domain = 'd1';
const { now } = byAlice;
let tokens = 0;
const aToken = () => `token ${++tokens}`;

const aStartedRun = () => aRunOnNewCvm(stores, domain);

const offer = (table: Table, run: RunReference, task_token: string) =>
  offerRun(table, stores.executions, { run, task_token }, { now, acceptInSeconds: 60 });
const stop = (run: RunReference) =>
  stopRun(stores.table, stores.executions, { domain, computationId: run.computation_id, ...byAlice });
const report = (run: RunReference, event_type: string, status: string) => {
  const event: Report = { id: crypto.randomUUID(), run_id: run.run_id, type: 'event', event_type, status, originator: 'agent' };
  return recordReports(stores.table, stores.executions, { domain, cvmId: run.cvm_id, reports: [event], now });
};
const accept = (run: RunReference) => report(run, 'Running', 'InProgress');
const fail = (run: RunReference) => report(run, 'Failed', 'Failed');
const removeAlgorithm = async ({ algorithm }: { algorithm: string }) => {
  const transaction = new Transaction();
  removeAsset(transaction, domain, await readAsset(stores.table, domain, algorithm));
  await transaction.commit(stores.table);
};
const commandsFor = async (run: RunReference) => (await listCommands(stores.table, domain, run.cvm_id, now)).commands;

describe('offerRun', () => {
  it('offers the same command when it is retried before the CVM has answered', async () => {
    const run = await aStartedRun();
    await offer(stores.table, run, 'first');
    const [before] = await commandsFor(run);
    await offer(stores.table, run, 'second');
    expect(await commandsFor(run)).toMatchObject([{ id: before?.id, type: 'run', run_id: run.run_id }]);
    expect(await readClaim(stores.table, run)).toMatchObject({ offer_token: 'second' });
  });

  it('offers nothing when it is retried after the CVM has accepted', async () => {
    const run = await aStartedRun();
    await offer(stores.table, run, 'first');
    await accept(run);
    await offer(stores.table, run, 'second');
    expect(await commandsFor(run)).toEqual([]);
    expect(await readClaim(stores.table, run)).toMatchObject({ offer_token: 'first' });
  });

  it('fails its task as over when the run was stopped before', async () => {
    const run = await aStartedRun();
    await stop(run);
    await offer(stores.table, run, 'token of a stopped run');
    expect(endedTasks.get('token of a stopped run')).toBe(runOverErrorName);
  });

  it('fails its task as over, and adds no command, when an input was deleted while the run started', async () => {
    const run = await aStartedRun();
    await removeAlgorithm(run);
    await offer(stores.table, run, 'token of a run without an algorithm');
    expect(endedTasks.get('token of a run without an algorithm')).toBe(runOverErrorName);
    expect(await commandsFor(run)).toEqual([]);
  });

  it('offers the run when a deletion of an input died, and the next run may start with that input', async () => {
    const run = await aStartedRun();
    const asset = await readAsset(stores.table, domain, run.algorithm);
    await markForDeletion(stores.table, domain, asset, now);
    await offer(stores.table, run, 'token of a run with its algorithm');
    expect(await commandsFor(run)).toHaveLength(1);
    await endRunWith(stores, domain, run.run_id);
    await aRun(stores, domain, run.computation_id, run.cvm_id);
  });

  it('does not read the inputs when it offers a run again', async () => {
    const run = await aStartedRun();
    await offer(stores.table, run, 'first');
    await removeAlgorithm(run);
    await offer(stores.table, run, 'second');
    expect(await readClaim(stores.table, run)).toMatchObject({ offer_token: 'second' });
    expect(await commandsFor(run)).toHaveLength(1);
  });

  it('offers nothing when a stop is requested and delivered before its transaction', async () => {
    const run = await aStartedRun();
    beforeTheNextTransaction(stores.mortal, async () => {
      await stop(run);
      await deliverStop(stores.table, stores.executions, { run, task_token: 'stop' }, { now, stopInSeconds: 60 });
    });
    await offer(stores.mortal, run, 'token of a late offer');
    expect(endedTasks.get('token of a late offer')).toBe(runOverErrorName);
    expect((await commandsFor(run)).map(({ type }) => type)).toEqual(['stop']);
  });

  it('leaves the end to the stop when it is retried after one, because the CVM may have the first offer', async () => {
    const run = await aStartedRun();
    await offer(stores.table, run, 'first');
    await stop(run);
    await offer(stores.table, run, 'second');
    const claim = await readClaim(stores.table, run);
    expect(claim).toMatchObject({ offer_token: 'second' });
    expect(claim).not.toHaveProperty('outcome');
    expect(await readRun(stores.table, domain, run.run_id)).toMatchObject({ status: 'stopping' });
  });

  it('fails its task for a run that is over, and does not offer a newer run on the same CVM', async () => {
    const run = await aStartedRun();
    await endRunWith(stores, domain, run.run_id);
    await aRun(stores, domain, run.computation_id, run.cvm_id);
    await offer(stores.table, run, 'token of an ended run');
    expect(endedTasks.get('token of an ended run')).toBe(runOverErrorName);
    expect(await commandsFor(run)).toEqual([]);
  });

  it('completes its task and adds no command if the CVM accepts an earlier offer after the claim was read', async () => {
    const run = await aStartedRun();
    const [first, second] = [aToken(), aToken()];
    await offer(stores.table, run, first);
    beforeTheNextTransaction(stores.mortal, () => accept(run));
    await offer(stores.mortal, run, second);
    expect(endedTasks.get(second)).toBe('completed');
    expect(await commandsFor(run)).toEqual([]);
    expect(await readClaim(stores.table, run)).toMatchObject({ offer_token: first });
  });

  it('fails its task as over and adds no command if the CVM fails after the claim was read', async () => {
    const run = await aStartedRun();
    const [first, second] = [aToken(), aToken()];
    await offer(stores.table, run, first);
    beforeTheNextTransaction(stores.mortal, () => fail(run));
    await offer(stores.mortal, run, second);
    expect(endedTasks.get(second)).toBe(runOverErrorName);
    expect(await commandsFor(run)).toEqual([]);
  });
});

describe('offerRun of a run that was offered and then stopped', () => {
  it.each([
    ['completes its task', 'accepts', accept, 'completed'],
    ['fails its task as over', 'fails', fail, runOverErrorName],
  ])('%s if the CVM %s after the claim was read', async (_outcome, _what, act, ending) => {
    const run = await aStartedRun();
    const [first, second] = [aToken(), aToken()];
    await offer(stores.table, run, first);
    await stop(run);
    beforeTheNextTransaction(stores.mortal, () => act(run));
    await offer(stores.mortal, run, second);
    expect(endedTasks.get(second)).toBe(ending);
  });
});

describe('offerRun of a stopped run whose claim it reads before the first offer', () => {
  it('leaves the end to the stop when the CVM has got that offer', async () => {
    const run = await aStartedRun();
    asReadBefore(stores.mortal, cvmKeys.claim(domain, run.cvm_id), async () => {
      await offer(stores.table, run, aToken());
      await stop(run);
    });
    const second = aToken();
    await offer(stores.mortal, run, second);
    expect(endedTasks.has(second)).toBe(false);
    const claim = await readClaim(stores.table, run);
    expect(claim).toMatchObject({ offer_token: second });
    expect(claim).not.toHaveProperty('outcome');
  });

  it('completes its task when the CVM has accepted that offer', async () => {
    const run = await aStartedRun();
    asReadBefore(stores.mortal, cvmKeys.claim(domain, run.cvm_id), async () => {
      await offer(stores.table, run, aToken());
      await accept(run);
      await awaitCvm(stores.table, stores.executions, { run, task_token: aToken() });
      await stop(run);
    });
    const second = aToken();
    await offer(stores.mortal, run, second);
    expect(endedTasks.get(second)).toBe('completed');
    expect(await readClaim(stores.table, run)).not.toHaveProperty('outcome');
  });
});

describe('awaitCvm', () => {
  it('leaves its token with the claim in place of that of the offer', async () => {
    const run = await aStartedRun();
    await offer(stores.table, run, aToken());
    const task_token = aToken();
    await awaitCvm(stores.table, stores.executions, { run, task_token });
    const claim = await readClaim(stores.table, run);
    expect(claim).toMatchObject({ run_token: task_token });
    expect(claim).not.toHaveProperty('offer_token');
    expect(endedTasks.has(task_token)).toBe(false);
  });

  it('completes its task when the CVM fails after it has read the claim', async () => {
    const run = await aStartedRun();
    const task_token = aToken();
    beforeTheNextTransaction(stores.mortal, () => fail(run));
    await awaitCvm(stores.mortal, stores.executions, { run, task_token });
    expect(endedTasks.get(task_token)).toBe('completed');
  });

  it('completes its task when the run ends right after its token is stored, because nobody else has the token', async () => {
    const run = await aStartedRun();
    const task_token = aToken();
    afterTheNextTransaction(stores.mortal, () => recordOutcome(stores.table, stores.executions, { run }, now));
    await awaitCvm(stores.mortal, stores.executions, { run, task_token });
    expect(endedTasks.get(task_token)).toBe('completed');
  });

  it('fails its task as over when the run has ended', async () => {
    const run = await aStartedRun();
    await endRunWith(stores, domain, run.run_id);
    const task_token = aToken();
    await awaitCvm(stores.table, stores.executions, { run, task_token });
    expect(endedTasks.get(task_token)).toBe(runOverErrorName);
  });
});
