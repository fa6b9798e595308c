import { describe, expect, it } from 'vitest';
import { markForDeletion, readAssetToChange } from '../../../shared/rows/asset.ts';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import { fieldsOf, readComputation } from '../../../shared/rows/computation.ts';
import { updateComputation } from '../../../shared/computations/update-computation.ts';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { linkAsset } from '../../../shared/assets/link-asset.ts';
import { listCommands } from '../../../shared/cvms/list-commands.ts';
import { offerRun } from '../../../shared/lifecycle/run-steps.ts';
import { startRun } from '../../../shared/runs/start-run.ts';
import { sweepRuns } from '../../../shared/lifecycle/sweep-runs.ts';
import type { AnswerKeeper } from '../../../shared/table/transaction.ts';
import { writableKey } from '../../../shared/table/keys.ts';
import { anEvent, appendToJournal } from '../../support/append-to-journal.ts';
import {
  allowed,
  anApproval,
  anAsset,
  aReadyComputation,
  aRun,
  aSharedComputation,
  byAlice,
  noKey,
  startStores,
} from '../../support/builders-store.ts';
import { beforeTheNextTransaction, betweenReads } from '../../support/interleave.ts';
import { startIdleStepFunctions } from '../../support/simulated-step-functions.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { testClock } from '../../support/test-clock.ts';
import { longestWaitInMilliseconds } from '../../support/patience.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';

/**
 * Returns the command that a CVM gets for a run that starts while `act` changes its computation: after the computation is read,
 * before its journal is.
 */
async function commandOfRun(computationId: string, cvm_id: string, act: () => Promise<unknown>) {
  betweenReads(stores.mortal, { afterThis: 'Query', beforeThat: 'BatchGet' }, act);
  const run_id = await aRun({ table: stores.mortal, executions: stores.executions }, domain, computationId, cvm_id);
  const run = { domain, computation_id: computationId, run_id, cvm_id };
  await offerRun(stores.table, stores.executions, { run, task_token: 'token' }, { now: byAlice.now, acceptInSeconds: 60 });
  const { commands } = await listCommands(stores.table, domain, cvm_id, byAlice.now);
  return commands[0];
}

describe('startRun', () => {
  it('refuses with cvm_busy when another run takes the CVM after it has read that the CVM is free', async () => {
    const [mine, other] = [await aReadyComputation(stores, domain), await aReadyComputation(stores, domain)];
    beforeTheNextTransaction(stores.mortal, () => aRun(stores, domain, other.id, 'cvm-3'));
    const start = aRun({ table: stores.mortal, executions: stores.executions }, domain, mine.id, 'cvm-3');
    await expect(start).rejects.toMatchObject({ code: 'conflict', extras: { reason: 'cvm_busy' } });
    expect(await readComputation(stores.table, domain, mine.id)).toMatchObject({ status: 'created', run: null });
  });

  it.each([
    ['leaves the run to the repeat of the request if its answer is kept', true, 'running'],
    ['ends the run if nothing will start it', false, 'failed'],
  ])('%s, when Step Functions does not start its execution', async (_what, isKept, status) => {
    const { id } = await aReadyComputation(stores, domain);
    const cvmId = `cvm-${status}`;
    const answerKeeper: AnswerKeeper = {
      keep: (answer) => ({ put: { Item: { ...writableKey('answer#1', 'answer'), answer } } }),
      refuseRepeat: () => Promise.resolve(),
    };
    const { executions, stop } = await startIdleStepFunctions();
    executions.client.middlewareStack.add(() => () => Promise.reject(new Error('It is down.')), { step: 'initialize' });
    const start = startRun(stores.table, executions, {
      domain,
      computationId: id,
      cvmId,
      ...byAlice,
      answerKeeper: isKept ? answerKeeper : undefined,
    });
    await expect(start).rejects.toThrow('It is down.');
    await stop();
    expect(await readComputation(stores.table, domain, id)).toMatchObject({ status, run: { status } });
  });

  it('throws what failed first when the run can neither be started nor ended, and leaves it to the sweep', async () => {
    const { id } = await aReadyComputation(stores, domain);
    const { executions, stop } = await startIdleStepFunctions();
    executions.client.middlewareStack.add(
      () => async () => {
        beforeTheNextTransaction(stores.mortal, () => Promise.reject(new Error('The table is broken.')));
        throw new Error('It is down.');
      },
      { step: 'initialize' },
    );
    await expect(aRun({ table: stores.mortal, executions }, domain, id, 'cvm-down')).rejects.toThrow('It is down.');
    await stop();
    expect(await readComputation(stores.table, domain, id)).toMatchObject({ status: 'running' });
    expect(await sweepRuns(stores.table, stores.executions, byAlice.now, { graceInSeconds: 0 })).toBeGreaterThan(0);
    expect(await readComputation(stores.table, domain, id)).toMatchObject({ status: 'failed' });
  });

  it('hands the CVM the agent configuration that replaces the one it has just read', async () => {
    const { id } = await aReadyComputation(stores, domain);
    const agent_config = { ...defaultAgentConfig, log_level: 'debug' as const };
    const command = await commandOfRun(id, 'cvm-1', () =>
      updateComputation(stores.table, {
        domain,
        seal: noKey,
        id,
        by: byAlice.by,
        now: byAlice.now,
        decide: (row) => ({
          fields: fieldsOf(row, row),
          agent_config,
          attestation_policy: null,
          result_review: null,
          consumers: [],
          providers: [],
          permitted: allowed(),
        }),
      }),
    );
    expect(command?.agent_config).toEqual(agent_config);
  });

  it('refuses a run whose `started` event would be later than the end of an approval', async () => {
    const { id } = await aSharedComputation(stores, domain);
    await anApproval(stores, domain, id, 'bob', { expires_at: '2025-07-17T08:00:10.000Z' });
    await appendToJournal(stores.table, id, [anEvent()], '2025-07-17T08:00:20.000Z'); // by a clock that is fast
    const missing_items = { keys: [], hashes: [], info: ['Approval of bob for iris.csv'] };
    await expect(aRun(stores, domain, id, 'cvm-fast')).rejects.toMatchObject({ code: 'incomplete', extras: { missing_items } });
  });

  it('waits, as long as the request may last, while one of the assets is about to be deleted', async () => {
    const { id } = await aReadyComputation(stores, domain);
    const assetId = await anAsset(stores, domain, { file_name: 'iris.csv', asset_type: 'dataset' });
    await linkAsset(stores.table, { domain, assetId, computationId: id, ...byAlice });
    await markForDeletion(stores.table, domain, await readAssetToChange(stores.table, domain, assetId), byAlice.now);
    // Its signal goes by the time of the machine, and what the request may wait by the clock.
    const clock = testClock({ speed: 0, skipsWaits: true });
    const deadline = new Deadline(longestWaitInMilliseconds, clock, { retryTime: 20_000 });
    const start = aRun({ ...stores, table: { ...stores.table, deadline: () => deadline } }, domain, id, 'cvm-marked');
    await expect(start).rejects.toMatchObject({ code: 'unavailable' });
    expect(await readComputation(stores.table, domain, id)).toMatchObject({ status: 'created', run: null });
  });

  it('puts a dataset into the manifest that is linked just after it has read the links', async () => {
    const { id } = await aReadyComputation(stores, domain);
    const assetId = await anAsset(stores, domain, { file_name: 'iris.csv', asset_type: 'dataset' });
    const command = await commandOfRun(id, 'cvm-2', () =>
      linkAsset(stores.table, { domain, assetId, computationId: id, ...byAlice }),
    );
    expect(command?.manifest?.datasets).toMatchObject([{ filename: 'iris.csv' }]);
  });
});
