import { SFNClient } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { localCredentials } from '../../local/machine/environment.ts';
import { recordReports } from '../../shared/cvms/record-reports.ts';
import type { Report as ParsedReport } from '../../shared/cvms/report.ts';
import { readClaim, type Claim } from '../../shared/rows/claim.ts';
import { startExecution } from '../../shared/lifecycle/executions.ts';
import { sweepRuns } from '../../shared/lifecycle/sweep-runs.ts';
import { startRun } from '../../shared/runs/start-run.ts';
import { allowed } from '../support/builders-store.ts';
import {
  agentEvent,
  cvm1,
  type Disturbance,
  expectEndedOnce,
  type LifecycleStack,
  openScenario,
  reportId,
  runTimes,
  type Scenario,
  startLifecycleStack,
  type StepFunctionsCall,
} from '../support/lifecycle-stack.ts';
import { inconsistencies, scan } from '../support/inconsistencies.ts';
import { startIdleStepFunctions } from '../support/simulated-step-functions.ts';
import { patientDeadline } from '../support/embedded-table.ts';
import { untilTestEnds } from '../support/patience.ts';
import { oneIn } from '../support/amounts.ts';

beforeEach(oneIn(2));

let lifecycle: LifecycleStack;
/** The state machine of a caller that is about to die: its calls never return. */
let dying: SFNClient;
beforeAll(async () => {
  lifecycle = await startLifecycleStack();
  dying = new SFNClient({ region: 'local', credentials: localCredentials, endpoint: lifecycle.executionsProxy.endpoint });
});
afterAll(async () => {
  dying.destroy();
  await lifecycle.stop();
});

async function ready() {
  const scenario = await openScenario(lifecycle.stack);
  return { scenario, computation: await scenario.computation() };
}

async function accepted() {
  const { scenario, computation } = await ready();
  const run = await scenario.start(computation);
  await scenario.accept();
  return { scenario, computation, run };
}

/** Disturbs the calls that start an execution of the computation. `met` resolves with the first one. */
function disturbStart(computation: string, action: 'run' | 'stop', disturbance: Disturbance, times = Infinity) {
  let left = times;
  const met = Promise.withResolvers<undefined>();
  const undisturbed = lifecycle.executionsProxy.disturb(({ operation, body }) => {
    const input = String(body['input']);
    const isMeant = operation === 'StartExecution' && input.includes(computation) && input.includes(`"action":"${action}"`);
    if (!isMeant || left-- <= 0) return undefined;
    met.resolve(undefined);
    return disturbance;
  });
  return { undisturbed, met: met.promise };
}

/** Waits until the run's claim has this field. */
async function untilClaimed<Field extends keyof Claim>(scenario: Scenario, run: string, field: Field) {
  return await vi.waitFor(async () => {
    const claim = await readClaim(lifecycle.table, { domain: scenario.domain, cvm_id: cvm1, run_id: run, computation_id: '' });
    const found = claim?.[field];
    if (found === undefined) throw new Error(`The claim has no ${field} yet.`);
    return found;
  }, untilTestEnds);
}

/** Disturbs the calls to the run's task that waits with this token. */
async function disturbTasks(
  scenario: Scenario,
  run: string,
  disturbance: Disturbance,
  name: 'offer_token' | 'run_token' = 'run_token',
) {
  const token = await untilClaimed(scenario, run, name);
  return lifecycle.executionsProxy.disturb(({ body }: StepFunctionsCall) =>
    body['taskToken'] === token ? disturbance : undefined,
  );
}

function completedReport(run_id: string): ParsedReport {
  return { id: reportId(), run_id, type: 'event', event_type: 'Complete', status: 'Completed', originator: 'agent' };
}

/** Calls that die only with the test, however long the rest of it takes. */
const dyingExecutions = () => ({ ...lifecycle.executions, client: dying, deadline: patientDeadline });

const request = (scenario: Scenario, computationId: string, now = lifecycle.now()) => ({
  domain: scenario.domain,
  computationId,
  by: 'alice',
  now,
  permit: allowed,
});

describe.concurrent('startRun', () => {
  it('answers 503 and fails the run when the state machine is down', async () => {
    const { scenario, computation } = await ready();
    const { undisturbed } = disturbStart(computation, 'run', 'refuse');
    const answer = await scenario.call('POST', `/${scenario.domain}/computations/${computation}/run?cvm=${cvm1}`);
    undisturbed();
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    const run = String((await scenario.runOf(computation))['id']);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'could not be started' });
  });

  it('starts one execution when the first answer of its start is lost', async () => {
    const { scenario, computation } = await ready();
    disturbStart(computation, 'run', 'lose-answer', 1);
    const run = await scenario.start(computation);
    await scenario.accept();
    await scenario.report([agentEvent(run, 'Complete', 'Completed')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
  });
});

describe.concurrent('stopRun', () => {
  it('answers 503 when the state machine is down, and stops the run when it is called again', async () => {
    const { scenario, computation, run } = await accepted();
    const { undisturbed } = disturbStart(computation, 'stop', 'refuse');
    expect(await scenario.stop(computation)).toMatchObject({ status: 503 });
    undisturbed();
    expect(await scenario.stop(computation)).toMatchObject({ status: 200, body: { id: run, status: 'stopping' } });
    await scenario.command('stop');
    await scenario.report([agentEvent(run, 'Stopped', 'Stopped')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled', reason: 'the CVM confirmed' });
  });
});

describe.concurrent('recordReports', () => {
  it('ends the run when a report is repeated whose first recorder could not reach the execution', async () => {
    const { scenario, computation, run } = await accepted();
    const undisturbed = await disturbTasks(scenario, run, 'refuse');
    const reports = [agentEvent(run, 'Complete', 'Completed')];
    expect(await scenario.report(reports)).toMatchObject({ status: 503 });
    expect(await scenario.statusOf(computation)).toBe('running');
    undisturbed();
    expect((await scenario.report(reports)).body).toMatchObject({ accepted: 0, duplicates: 1 });
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
  });

  it('passes an acceptance on with the next heartbeat when the first recorder could not reach the execution', async () => {
    const { scenario, computation } = await ready();
    const run = await scenario.start(computation);
    const { id } = await scenario.command('run');
    const undisturbed = await disturbTasks(scenario, run, 'refuse', 'offer_token');
    expect(await scenario.report([{ id: reportId(), run_id: run, type: 'accepted', command_id: id }])).toMatchObject({
      status: 503,
    });
    undisturbed();
    await scenario.report([{ id: reportId(), run_id: run, type: 'heartbeat' }]);
    await scenario.report([agentEvent(run, 'Complete', 'Completed')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
  });
});

describe('the lifecycle', () => {
  it('ends the execution of a run that was answered with 503 since every answer of its start was lost', async () => {
    const { scenario, computation } = await ready();
    const { undisturbed } = disturbStart(computation, 'run', 'lose-answer');
    const answer = await scenario.call('POST', `/${scenario.domain}/computations/${computation}/run?cvm=${cvm1}`);
    undisturbed();
    expect(answer.status).toBe(503);
    const run = String((await scenario.runOf(computation))['id']);
    await lifecycle.lapse(runTimes.acceptInSeconds); // the run may have been offered before the caller gave up
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'could not be started' });
  });

  it('ends a run with its recorded outcome when the recorder died before it reached the execution, and the CVM fell silent', async () => {
    const { scenario, computation, run } = await accepted();
    const undisturbed = await disturbTasks(scenario, run, 'hold');
    const executions = dyingExecutions();
    const batch = { domain: scenario.domain, cvmId: cvm1, now: lifecycle.now() };
    void recordReports(lifecycle.table, executions, { ...batch, reports: [completedReport(run)] }).catch(() => undefined);
    await untilClaimed(scenario, run, 'outcome');
    await lifecycle.lapse(runTimes.silenceInSeconds);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
    undisturbed();
  });

  it('ends a run with the outcome that its CVM reported when the table throttles the recording of it', async () => {
    const { scenario, computation, run } = await accepted();
    lifecycle.tableProxy.inject({ kind: 'throttling', share: 1, operations: ['TransactWriteItems'], times: 6 });
    const batch = { domain: scenario.domain, cvmId: cvm1, now: lifecycle.now() };
    await recordReports(lifecycle.table, lifecycle.executions, { ...batch, reports: [completedReport(run)] });
    await vi.waitFor(() => expect(lifecycle.tableProxy.faults()).toBe(6), untilTestEnds);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
  });

  it('ends a run once when the table loses the answers to the recording of its outcome', async () => {
    const { scenario, computation, run } = await accepted();
    lifecycle.tableProxy.inject({ kind: 'lost-answer', share: 1, operations: ['TransactWriteItems'], times: 2 });
    await scenario.report([agentEvent(run, 'Complete', 'Completed')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
    expect(lifecycle.tableProxy.faults()).toBe(2);
  });

  it('offers a run a little later when the table throttles the offer', async () => {
    const { scenario, computation } = await ready();
    const executions = dyingExecutions();
    const { undisturbed, met } = disturbStart(computation, 'run', 'hold');
    void startRun(lifecycle.table, executions, { ...request(scenario, computation), cvmId: cvm1 }).catch(() => '');
    await met;
    undisturbed();
    const run = String((await scenario.runOf(computation))['id']);
    lifecycle.tableProxy.inject({ kind: 'throttling', share: 1, operations: ['TransactWriteItems'], times: 1 });
    await startExecution(lifecycle.executions, 'run', {
      domain: scenario.domain,
      computation_id: computation,
      run_id: run,
      cvm_id: cvm1,
    });
    await scenario.accept();
    await scenario.report([agentEvent(run, 'Complete', 'Completed')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
  });
});

describe('sweepRuns', () => {
  it('ends every run whose execution got lost with the machine, with what its CVM or its user said before', async () => {
    const [silent, stopped, told] = [await accepted(), await accepted(), await accepted()];
    for (const { scenario, run } of [silent, stopped, told]) await untilClaimed(scenario, run, 'run_token');
    await stopped.scenario.stop(stopped.computation);
    await stopped.scenario.command('stop');
    const batch = { domain: told.scenario.domain, cvmId: cvm1, now: lifecycle.now() };
    const lost = await startIdleStepFunctions();
    await recordReports(lifecycle.table, lost.executions, { ...batch, reports: [completedReport(told.run)] });
    expect(await sweepRuns(lifecycle.table, lost.executions, lifecycle.now(), { graceInSeconds: 0 })).toBe(3);
    await lost.stop();
    await lifecycle.lapse(runTimes.silenceInSeconds); // ends the executions, which are not lost here
    await expectEndedOnce(lifecycle, silent.scenario, { ...silent, status: 'failed', reason: 'execution of the run is gone' });
    await expectEndedOnce(lifecycle, stopped.scenario, { ...stopped, status: 'cancelled', reason: 'did not confirm' });
    await expectEndedOnce(lifecycle, told.scenario, { ...told, status: 'completed' });
  });

  it('ends a run with the outcome that its CVM reported when the recorder died before it reached the execution', async () => {
    const { scenario, computation } = await ready();
    const run = await scenario.start(computation);
    const { id } = await scenario.command('run');
    await untilClaimed(scenario, run, 'offer_token');
    const batch = { domain: scenario.domain, cvmId: cvm1, now: lifecycle.now() };
    const rejected = { id: reportId(), run_id: run, type: 'rejected', command_id: id, reason: 'The agent is gone.' } as const;
    const lost = await startIdleStepFunctions(); // it has no such task, so nothing learns of the outcome
    await recordReports(lifecycle.table, lost.executions, { ...batch, reports: [rejected] });
    await lost.stop();
    await lifecycle.stack.invoke('lifecycle/sweep-runs', { grace_in_seconds: 0 });
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'The agent is gone.' });
  });

  it('leaves a table without contradictions after all crashes of this file', async () => {
    expect(inconsistencies(await scan(lifecycle.table))).toEqual([]);
  });
});
