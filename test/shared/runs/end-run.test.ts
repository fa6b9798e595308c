import { describe, expect, it } from 'vitest';
import { defaultAgentConfig, type SealKey } from '../../../shared/computations/agent-config.ts';
import type { ComputationFields } from '../../../shared/computations/computation.ts';
import { updateComputation } from '../../../shared/computations/update-computation.ts';
import { readClaim } from '../../../shared/runs/claim.ts';
import { endRun, executionEnded, recordOutcome } from '../../../shared/runs/end-run.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import {
  allowed,
  aReadyComputation,
  aResumedRun,
  aRun,
  aRunOnNewCvm,
  byAlice,
  startStores,
} from '../../support/builders-store.ts';
import { listCommands } from '../../../shared/runs/list-commands.ts';
import { offerRun } from '../../../shared/runs/waiting-steps.ts';
import { waysToEnd } from '../../../shared/runs/ways-to-end.ts';
import { readRun } from '../../../shared/computations/read-runs.ts';
import { recordReports } from '../../../shared/runs/record-reports.ts';
import { cvmKeys, runKeys } from '../../../shared/table/keys.ts';
import { getItems, queryPartition } from '../../../shared/table/table.ts';
import { beforeTheNextTransaction } from '../../support/interleave.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';

describe('endRun', () => {
  it('ends the run as the CVM reports it when the report comes after endRun has read the claim', async () => {
    const { id } = await aReadyComputation(stores, domain);
    const run_id = await aRun(stores, domain, id);
    const run = { domain, computation_id: id, run_id, cvm_id: 'cvm-1' };
    const command_id = (await readClaim(stores.table, run))?.run_command_id ?? '';
    beforeTheNextTransaction(stores.mortal, async () => {
      const reports = [{ id: 'r1', run_id, type: 'rejected' as const, command_id, reason: 'no memory' }];
      await recordReports(stores.table, stores.executions, { domain, cvmId: run.cvm_id, reports, now: byAlice.now });
    });
    await endRun(stores.mortal, run, { way: waysToEnd.recordOutcome.silence }, byAlice.now);
    expect(await readRun(stores.table, domain, run_id)).toMatchObject({
      status: 'failed',
      reason: 'The CVM rejected the run: no memory',
    });
  });

  it('removes the commands for the CVM and the server key from the stored run', async () => {
    const { id } = await aReadyComputation(stores, domain);
    const agent_config = { ...defaultAgentConfig, cert_file: 'certificate', server_key: 'secret' };
    const decide = (fields: ComputationFields) => ({ fields, agent_config, consumers: [], permitted: allowed() });
    const seal: SealKey = ({ plain }) => Promise.resolve({ digest: 'digest', sealed: plain });
    await updateComputation(stores.table, { domain, id, seal, decide, ...byAlice });
    const run_id = await aRun(stores, domain, id, 'cvm-2');
    const run = { domain, computation_id: id, run_id, cvm_id: 'cvm-2' };
    await offerRun(stores.table, stores.executions, { run, task_token: 'token' }, { now: byAlice.now, acceptInSeconds: 60 });
    const kept = async () => JSON.stringify(await queryPartition(stores.table, runKeys.partition(id)));
    const commands = async () => (await listCommands(stores.table, domain, 'cvm-2', byAlice.now)).commands;
    const commandKeys = [cvmKeys.command, cvmKeys.pending].map((keyOf) => keyOf(run, 'run'));
    expect(await kept()).toContain('secret');
    expect(await commands()).toMatchObject([{ type: 'run', run_id }]);
    expect(await getItems(stores.table, commandKeys)).toMatchObject([{ run_id }, { run_id }]);

    await endRun(stores.table, run, { way: waysToEnd.recordOutcome.silence }, byAlice.now);
    expect(await kept()).not.toContain('secret');
    expect(await commands()).toEqual([]);
    expect(await getItems(stores.table, commandKeys)).toEqual([undefined, undefined]);
  });
});

describe('recordOutcome', () => {
  it('changes nothing when it is repeated', async () => {
    const run = await aRunOnNewCvm(stores, domain);
    await recordOutcome(stores.table, stores.executions, { run, endedBy: 'silence' }, byAlice.now);
    const ended = await readRun(stores.table, domain, run.run_id);
    await recordOutcome(stores.table, stores.executions, { run, endedBy: 'run_timeout' }, byAlice.now);
    expect(await readRun(stores.table, domain, run.run_id)).toEqual(ended);
    expect(ended).toMatchObject({ status: 'failed', reason: 'The CVM fell silent.' });
  });
});

describe('executionEnded', () => {
  it('cancels the run whose stop ended without an outcome', async () => {
    const run = await aRunOnNewCvm(stores, domain);
    await stopRun(stores.table, stores.executions, { domain, computationId: run.computation_id, ...byAlice });
    const detail = { name: `stop-${run.run_id}`, status: 'FAILED', input: { action: 'stop' as const, ...run } };
    await executionEnded(stores.table, stores.executions, { detail }, byAlice.now);
    expect(await readRun(stores.table, domain, run.run_id)).toMatchObject({
      status: 'cancelled',
      reason: 'Stopped; no CVM confirmed it in time.',
    });
  });

  it('leaves a run that was resumed as it is when the end of an earlier execution becomes known, and ends it with the present one', async () => {
    const run = await aResumedRun(stores, domain);
    const end = (name: string, action: 'run' | 'stop') =>
      executionEnded(
        stores.table,
        stores.executions,
        { detail: { name, status: 'ABORTED', input: { action, ...run } } },
        byAlice.now,
      );
    const status = async () => (await readRun(stores.table, domain, run.run_id))?.status;
    await end(`run-${run.run_id}`, 'run');
    expect(await status()).toBe('running');
    await stopRun(stores.table, stores.executions, { domain, computationId: run.computation_id, ...byAlice });
    await end(`stop-${run.run_id}`, 'stop');
    expect(await status()).toBe('stopping');
    await end(`stop-${run.run_id}-1`, 'stop');
    expect(await status()).toBe('cancelled');
  });
});
