import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { localCredentials, local } from '../../../local/machine/environment.ts';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import {
  ensureExecution,
  executionStatus,
  openExecutions,
  sendHeartbeat,
  startExecution,
} from '../../../shared/lifecycle/executions.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { aResumedRun, byAlice, startStores } from '../../support/builders-store.ts';
import { startIdleStepFunctions } from '../../support/simulated-step-functions.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { silence, startAnsweringServer, status, type AnsweringServer } from '../../support/answering-server.ts';

let stepFunctions: AnsweringServer;

beforeAll(async () => {
  stepFunctions = await startAnsweringServer();
  vi.stubEnv('AWS_ENDPOINT_URL_SFN', stepFunctions.endpoint);
  vi.stubEnv('AWS_REGION', local.region);
  vi.stubEnv('AWS_ACCESS_KEY_ID', localCredentials.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', localCredentials.secretAccessKey);
  vi.stubEnv('STATE_MACHINE_ARN', local.stateMachineArn);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await stepFunctions.stop();
});

describe('the client of Step Functions', () => {
  it('aborts a request that is not answered in time, and retries it', async () => {
    stepFunctions.answerWith(silence, status(200, JSON.stringify({ executionArn: 'arn', startDate: 1 })));
    const run = { domain: 'd1', computation_id: 'c-1', run_id: 'r-1', cvm_id: 'cvm-1' };
    await startExecution(
      openExecutions(() => new Deadline(60_000)),
      'run',
      run,
    );
    expect(stepFunctions.received).toEqual(['POST', 'POST']);
  });

  it('leaves out and counts a heartbeat that Step Functions throttles, and passes on another refusal', async () => {
    const refusal = (name: string) => status(400, JSON.stringify({ __type: name, message: 'Refused' }));
    const executions = openExecutions(() => new Deadline(60_000));
    const throttled = refusal('ThrottlingException');
    stepFunctions.answerWith(throttled, throttled, throttled);
    vi.stubEnv('METRICS_NAMESPACE', 'Test');
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    await expect(sendHeartbeat(executions, 'token')).resolves.toBeUndefined();
    expect(write.mock.calls.filter(([line]) => String(line).includes('"HeartbeatsThrottled":1'))).toHaveLength(1);
    write.mockRestore();
    vi.stubEnv('METRICS_NAMESPACE', '');
    stepFunctions.answerWith(refusal('AccessDeniedException'));
    await expect(sendHeartbeat(executions, 'token')).rejects.toThrow('Refused');
  });
});

const stores = sharedByTests(startStores);
/** A second Step Functions that has no execution yet. */
const empty = sharedByTests(startIdleStepFunctions);

const domain = 'd1';

const statusOf = async (kind: 'run' | 'stop', runId: string) => ({
  first: await executionStatus(empty.executions, kind, runId),
  resumed: await executionStatus(empty.executions, kind, runId, 1),
});

describe('the execution of a run that was resumed', () => {
  it('is the resumed one alone when the start is repeated', async () => {
    const { computation_id: computationId, run_id: runId } = await aResumedRun(stores, domain);
    await ensureExecution(stores.table, empty.executions, { domain, computationId, runId }, 'run');
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
    await ensureExecution(stores.table, empty.executions, { domain, computationId, runId }, 'stop');
    expect(await statusOf('stop', runId)).toEqual({ first: undefined, resumed: 'RUNNING' });
  });
});
