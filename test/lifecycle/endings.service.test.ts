import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it, vi } from 'vitest';
import {
  agentEvent,
  cvm1,
  expectEndedOnce,
  openScenario,
  reportId,
  runTimes,
  type Scenario,
  startLifecycleStack,
} from '../support/lifecycle-stack.ts';
import { inconsistencies, scan } from '../support/inconsistencies.ts';
import { readClaim } from '../../shared/rows/claim.ts';
import { untilTestEnds } from '../support/patience.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const lifecycle = sharedByTests(startLifecycleStack);

async function running() {
  const scenario = await openScenario(lifecycle.stack);
  const computation = await scenario.computation();
  const run = await scenario.start(computation);
  return { scenario, computation, run };
}

async function accepted() {
  const started = await running();
  const command = await started.scenario.accept();
  return { ...started, command };
}

/** Starts a run that is accepted and whose execution waits for the CVM: the limits for silence and for the run have started. */
async function awaited() {
  const { scenario, computation, run } = await accepted();
  await vi.waitFor(async () => expect((await claimOf(scenario, run))?.run_token).toBeDefined(), untilTestEnds);
  return { scenario, computation, run };
}

const claimOf = (scenario: Scenario, run: string) =>
  readClaim(lifecycle.table, { domain: scenario.domain, cvm_id: cvm1, run_id: run, computation_id: '' });

const abort = (action: 'run' | 'stop', run: string) =>
  lifecycle.executions.client.send(
    new StopExecutionCommand({
      executionArn: `${lifecycle.stack.stateMachineArn.replace(':stateMachine:', ':execution:')}:${action}-${run}`,
    }),
  );

describe('a time limit of a run', () => {
  it('fails the run when no CVM accepts it in time', async () => {
    const { scenario, computation, run } = await running();
    await scenario.command('run');
    await lifecycle.lapse(runTimes.acceptInSeconds);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'No CVM accepted' });
  });

  it('fails the run when its CVM falls silent', async () => {
    const { scenario, computation, run } = await awaited();
    await lifecycle.lapse(runTimes.silenceInSeconds);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'silent' });
  });

  it('fails the run when it lasts too long, although its CVM sends heartbeats', async () => {
    const { scenario, computation, run } = await awaited();
    for (let lapsed = 0; lapsed < runTimes.runInSeconds; lapsed += runTimes.silenceInSeconds / 2) {
      expect(await scenario.statusOf(computation)).toBe('running');
      await scenario.report([{ id: reportId(), run_id: run, type: 'heartbeat' }]);
      await lifecycle.lapse(runTimes.silenceInSeconds / 2);
    }
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'longer than this stage allows' });
  });

  it('cancels a stopped run without a confirmation, despite heartbeats', async () => {
    const { scenario, computation, run } = await awaited();
    await scenario.stop(computation);
    await scenario.command('stop');
    await lifecycle.lapse(runTimes.stopInSeconds - 60);
    await scenario.report([{ id: reportId(), run_id: run, type: 'heartbeat' }]);
    expect(await scenario.statusOf(computation)).toBe('stopping');
    await lifecycle.lapse(60);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled', reason: 'no CVM confirmed' });
  });

  it('cancels a run that was stopped before a CVM accepted it, whose command is withdrawn at once', async () => {
    const { scenario, computation, run } = await running();
    await scenario.command('run');
    await scenario.stop(computation);
    await scenario.command('stop');
    expect((await scenario.commands()).map(({ type }) => type)).toEqual(['stop']);
    await lifecycle.lapse(runTimes.stopInSeconds);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled', reason: 'Stopped' });
  });

  it('ends the execution of a stop whose run an operator has ended by aborting its execution', async () => {
    const { scenario, computation, run } = await accepted();
    await scenario.stop(computation);
    await scenario.command('stop');
    await abort('run', run);
    await vi.waitFor(async () => expect(await scenario.statusOf(computation)).toBe('cancelled'), untilTestEnds);
    await lifecycle.lapse(runTimes.stopInSeconds);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled', reason: 'did not confirm' });
  });
});

describe.concurrent('a run', () => {
  it.each([
    ['completes when its CVM reports the results', 'Running/InProgress ConsumingResults/Ready', 'completed', 'finished'],
    ['fails when its CVM reports a failure', 'Failed/Failed', 'failed', 'The CVM failed'],
    ['is cancelled when its CVM stops without a request', 'Stopped/Stopped Running/Failed', 'cancelled', 'without a request'],
  ] as const)('%s', async (_title, events, status, reason) => {
    const { scenario, computation, run } = await accepted();
    const reports = events.split(' ').map((event) => agentEvent(run, ...(event.split('/') as [string, string])));
    await scenario.report(reports);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status, reason });
  });

  it('fails with the reason of its CVM when the CVM rejects it', async () => {
    const { scenario, computation, run } = await running();
    const { id } = await scenario.command('run');
    await scenario.report([{ id: reportId(), run_id: run, type: 'rejected', command_id: id, reason: 'no memory' }]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'no memory' });
  });

  it('completes when its outcome is reported together with its acceptance', async () => {
    const { scenario, computation, run } = await running();
    const { id } = await scenario.command('run');
    await scenario.report([
      { id: reportId(), run_id: run, type: 'accepted', command_id: id },
      agentEvent(run, 'Complete', 'Completed'),
    ]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
  });

  it('completes when its acceptance was never reported', async () => {
    const { scenario, computation, run } = await running();
    await scenario.command('run');
    await scenario.report([agentEvent(run, 'Running', 'InProgress')]);
    expect(await scenario.commands()).toEqual([]);
    await scenario.report([agentEvent(run, 'Complete', 'Completed')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
  });

  it('ends once, with the first of two outcomes, when reports are repeated at the same time', async () => {
    const { scenario, computation, run } = await accepted();
    const reports = [agentEvent(run, 'Complete', 'Completed')];
    const answers = await Promise.all([scenario.report(reports), scenario.report(reports), scenario.report(reports)]);
    const total = answers.reduce((sum, { body }) => sum + Number(body['accepted']), 0);
    expect([total, ...answers.map(({ status }) => status)]).toEqual([1, 200, 200, 200]);
    await scenario.report([agentEvent(run, 'Failed', 'Failed')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
    expect((await scenario.report(reports)).body).toMatchObject({ accepted: 0, duplicates: 1 });
  });

  it('fails when an operator aborts its execution', async () => {
    const { scenario, computation, run } = await accepted();
    await abort('run', run);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'ABORTED' });
  });

  it('starts once when a computation is started three times at the same time, and the others answer 409 with its id', async () => {
    const scenario = await openScenario(lifecycle.stack);
    const computation = await scenario.computation();
    const start = (cvm: string) => scenario.call('POST', `/${scenario.domain}/computations/${computation}/run?cvm=${cvm}`);
    const answers = await Promise.all([start('cvm-1'), start('cvm-2'), start('cvm-3')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const winner = answers.findIndex(({ status }) => status === 200);
    const run = answers[winner]?.body as unknown as string;
    for (const { body } of answers.filter(({ status }) => status === 409))
      expect(body).toMatchObject({ reason: 'run_active', run_id: run });
    const cvm = `cvm-${winner + 1}`;
    await scenario.accept(cvm);
    await scenario.report([agentEvent(run, 'Complete', 'Completed')], cvm);
    await expectEndedOnce(lifecycle, scenario, { computation, run, cvm, status: 'completed' });
  });

  it('has its CVM for itself when two computations are started on it at the same time', async () => {
    const scenario = await openScenario(lifecycle.stack);
    const computations = [await scenario.computation(), await scenario.computation()];
    const answers = await Promise.all(
      computations.map((id) => scenario.call('POST', `/${scenario.domain}/computations/${id}/run?cvm=cvm-1`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const winner = answers.findIndex(({ status }) => status === 200);
    const run = answers[winner]?.body as unknown as string;
    expect(answers[1 - winner]?.body).toMatchObject({ reason: 'cvm_busy', run_id: run });
    expect(await scenario.statusOf(computations[1 - winner] ?? '')).toBe('created');
    await scenario.accept();
    await scenario.report([agentEvent(run, 'Complete', 'Completed')]);
    await expectEndedOnce(lifecycle, scenario, { computation: computations[winner] ?? '', run, status: 'completed' });
  });
});

describe.concurrent('a stop', () => {
  it('cancels the run when the CVM confirms it, whatever the agent reports after that', async () => {
    const { scenario, computation, run } = await accepted();
    expect(await scenario.stop(computation)).toMatchObject({ status: 200, body: { id: run, status: 'stopping' } });
    const { id } = await scenario.command('stop');
    await scenario.report([{ id: reportId(), run_id: run, type: 'accepted', command_id: id }]);
    expect(await scenario.commands()).toEqual([]);
    await scenario.report([agentEvent(run, 'Stopped', 'Stopped')]);
    await scenario.report([agentEvent(run, 'Running', 'Failed')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled', reason: 'the CVM confirmed' });
  });

  it('lets the run complete when the CVM reports its end at the same time', async () => {
    const { scenario, computation, run } = await accepted();
    const [stopped] = await Promise.all([
      scenario.stop(computation),
      scenario.report([agentEvent(run, 'Complete', 'Completed')]),
    ]);
    expect([200, 409]).toContain(stopped.status);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
  });

  it('is delivered once when it is asked for three times at the same time', async () => {
    const { scenario, computation, run } = await accepted();
    const answers = await Promise.all([1, 2, 3].map(() => scenario.stop(computation)));
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { id: run, status: 'stopping' } });
    await scenario.command('stop');
    await scenario.report([agentEvent(run, 'Stopped', 'Stopped')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled' });
    expect((await scenario.statistics())['stopping']).toBe(1);
  });

  it('cancels the run when an operator aborts the execution of the stop', async () => {
    const { scenario, computation, run } = await accepted();
    await scenario.stop(computation);
    await scenario.command('stop');
    await abort('stop', run);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled' });
  });
});

describe('the table', () => {
  it('is without contradictions after all endings of this file', async () => {
    expect(inconsistencies(await scan(lifecycle.table))).toEqual([]);
  });
});
