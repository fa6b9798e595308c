import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readClaim } from '../../../shared/runs/claim.ts';
import { endRun } from '../../../shared/runs/end-run.ts';
import { readRun } from '../../../shared/runs/read-run.ts';
import { recordReports } from '../../../shared/runs/record-reports.ts';
import { aReadyComputation, aRun, byAlice, startStores, type Stores } from '../../support/builders-store.ts';
import { beforeTheNextTransaction } from '../../support/interleave.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores.stop());

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
    await endRun(stores.mortal, run, { status: 'failed', reason: 'The CVM fell silent.' }, byAlice.now);
    expect(await readRun(stores.table, domain, run_id)).toMatchObject({
      status: 'failed',
      reason: 'The CVM rejected the run: no memory',
    });
  });
});
