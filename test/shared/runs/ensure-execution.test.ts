import { describe, expect, it } from 'vitest';
import { ensureRunExecution, ensureStopExecution, executionStatus } from '../../../shared/runs/executions.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { byAlice, startStores } from '../../support/builders-store.ts';
import { startIdleStepFunctions } from '../../support/lifecycle-idle-step-functions.ts';
import { aResumedRun } from '../../support/resumed-run.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);
/** Another Step Functions, which has no execution yet. */
const empty = sharedByTests(startIdleStepFunctions);

const domain = 'd1';

const statusOf = async (kind: 'run' | 'stop', runId: string) => ({
  first: await executionStatus(empty.executions, kind, runId),
  resumed: await executionStatus(empty.executions, kind, runId, 1),
});

describe('the execution of a run that was resumed', () => {
  it('is the resumed one alone when the start is repeated', async () => {
    const { computation_id: computationId, run_id: runId } = await aResumedRun(stores, domain);
    await ensureRunExecution(stores.table, empty.executions, { domain, computationId, runId });
    expect(await statusOf('run', runId)).toEqual({ first: undefined, resumed: 'RUNNING' });
  });

  it('has a stop by the name that the sweep looks for, and no second one', async () => {
    const { computation_id: computationId, run_id: runId } = await aResumedRun(stores, domain);
    await stopRun(stores.table, empty.executions, { domain, computationId, ...byAlice });
    expect(await statusOf('stop', runId)).toEqual({ first: undefined, resumed: 'RUNNING' });
  });

  it('has a stop by that name when the stop is repeated', async () => {
    const { computation_id: computationId, run_id: runId } = await aResumedRun(stores, domain);
    await stopRun(stores.table, stores.executions, { domain, computationId, ...byAlice });
    await ensureStopExecution(stores.table, empty.executions, { domain, computationId, runId });
    expect(await statusOf('stop', runId)).toEqual({ first: undefined, resumed: 'RUNNING' });
  });
});
