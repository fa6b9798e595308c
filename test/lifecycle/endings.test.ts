import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { expectEndedOnce } from '../support/lifecycle-ended.ts';
import { inconsistencies, scan } from '../support/lifecycle-inconsistencies.ts';
import { agentEvent, openScenario, patience, reportId } from '../support/lifecycle-scenario.ts';
import { startLifecycleStack, type LifecycleStack } from '../support/lifecycle-stack.ts';

let lifecycle: LifecycleStack;
beforeAll(async () => {
  lifecycle = await startLifecycleStack({ acceptInSeconds: 2, silenceInSeconds: 2, runInSeconds: 4, stopInSeconds: 2 });
});
afterAll(() => lifecycle.stop());

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

describe.concurrent('a run', () => {
  it('completes with the word of its CVM', async () => {
    const { scenario, computation, run } = await accepted();
    await scenario.report([agentEvent(run, 'Running', 'InProgress'), agentEvent(run, 'ConsumingResults', 'Ready')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed', reason: 'finished' });
  });

  it('fails with the word of its CVM', async () => {
    const { scenario, computation, run } = await accepted();
    await scenario.report([agentEvent(run, 'Failed', 'Failed')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'The CVM failed' });
  });

  it('fails when the CVM refuses it, and says why', async () => {
    const { scenario, computation, run } = await running();
    const { id } = await scenario.command('run');
    await scenario.report([{ id: reportId(), run_id: run, type: 'rejected', command_id: id, reason: 'no memory' }]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'no memory' });
  });

  it('fails when no CVM is there', async () => {
    const { scenario, computation, run } = await running();
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'No CVM accepted' });
  });

  it('fails when its CVM falls silent', async () => {
    const { scenario, computation, run } = await accepted();
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'silent' });
  });

  it('fails when it lasts too long, however lively its CVM is', async () => {
    const { scenario, computation, run } = await accepted();
    await vi.waitFor(
      async () => {
        await scenario.report([{ id: reportId(), run_id: run, type: 'heartbeat' }]);
        expect(await scenario.statusOf(computation)).not.toBe('running');
      },
      { ...patience, interval: 200 },
    );
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'longer than this stage allows' });
  });

  it('completes when the outcome comes together with the acceptance, before anything waits for it', async () => {
    const { scenario, computation, run } = await running();
    const { id } = await scenario.command('run');
    await scenario.report([
      { id: reportId(), run_id: run, type: 'accepted', command_id: id },
      agentEvent(run, 'Complete', 'Completed'),
    ]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
  });

  it('completes when the acceptance got lost', async () => {
    const { scenario, computation, run } = await running();
    await scenario.command('run');
    await scenario.report([agentEvent(run, 'Running', 'InProgress')]);
    expect(await scenario.commands()).toEqual([]);
    await scenario.report([agentEvent(run, 'Complete', 'Completed')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
  });

  it('ends with the first of two outcomes, and once when a report is repeated', async () => {
    const { scenario, computation, run } = await accepted();
    const reports = [agentEvent(run, 'Complete', 'Completed')];
    const answers = await Promise.all([scenario.report(reports), scenario.report(reports), scenario.report(reports)]);
    const total = answers.reduce((sum, { body }) => sum + Number(body['accepted']), 0);
    expect([total, ...answers.map(({ status }) => status)]).toEqual([1, 200, 200, 200]);
    await scenario.report([agentEvent(run, 'Failed', 'Failed')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
    expect((await scenario.report(reports)).body).toEqual({ accepted: 0, duplicates: 1 });
  });

  it('stays as it ended when reports come after its end, and records them', async () => {
    const { scenario, computation, run } = await accepted();
    await scenario.report([agentEvent(run, 'Complete', 'Completed')]);
    await vi.waitFor(async () => expect(await scenario.statusOf(computation)).toBe('completed'), patience);
    expect((await scenario.report([agentEvent(run, 'Failed', 'Failed')])).body).toEqual({ accepted: 1, duplicates: 0 });
    expect((await scenario.eventsOf(computation, run)).slice(-2)).toEqual(['completed/success', 'Failed/Failed']);
    const { body: status } = await scenario.call('GET', `/${scenario.domain}/computations/${computation}/status`);
    expect(status['event_type']).toBe('completed');
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
  });

  it('fails when its execution is aborted by hand', async () => {
    const { scenario, computation, run } = await accepted();
    await abort('run', run);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'failed', reason: 'ABORTED' });
  });

  it('is one of two starts at once on one computation', async () => {
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

  it('has its CVM for itself when two computations want it at once', async () => {
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

const abort = (action: 'run' | 'stop', run: string) =>
  lifecycle.executions.client.send(
    new StopExecutionCommand({
      executionArn: `${lifecycle.stack.stateMachineArn.replace(':stateMachine:', ':execution:')}:${action}-${run}`,
    }),
  );

describe.concurrent('a stop', () => {
  it('cancels the run once the CVM confirms it, whatever the agent says after that', async () => {
    const { scenario, computation, run } = await accepted();
    expect(await scenario.stop(computation)).toMatchObject({ status: 200, body: { id: run, status: 'stopping' } });
    const { id } = await scenario.command('stop');
    await scenario.report([{ id: reportId(), run_id: run, type: 'accepted', command_id: id }]);
    expect(await scenario.commands()).toEqual([]);
    await scenario.report([agentEvent(run, 'Stopped', 'Stopped')]);
    await scenario.report([agentEvent(run, 'Running', 'Failed')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled', reason: 'the CVM confirmed' });
  });

  it('cancels a run that was never asked to stop, when its CVM stops it', async () => {
    const { scenario, computation, run } = await accepted();
    await scenario.report([agentEvent(run, 'Stopped', 'Stopped'), agentEvent(run, 'Running', 'Failed')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled', reason: 'unasked' });
  });

  it('cancels the run, and says so, when nobody confirms it', async () => {
    const { scenario, computation, run } = await accepted();
    await scenario.stop(computation);
    await vi.waitFor(
      async () => {
        await scenario.report([{ id: reportId(), run_id: run, type: 'heartbeat' }]);
        expect(await scenario.statusOf(computation)).not.toBe('stopping');
      },
      { ...patience, interval: 200 },
    );
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled', reason: 'no CVM confirmed' });
  });

  it('cancels the run when the CVM refuses to stop', async () => {
    const { scenario, computation, run } = await accepted();
    await scenario.stop(computation);
    const { id } = await scenario.command('stop');
    await scenario.report([{ id: reportId(), run_id: run, type: 'rejected', command_id: id, reason: 'unknown run' }]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled', reason: 'unknown run' });
  });

  it('withdraws a run that no CVM has accepted yet', async () => {
    const { scenario, computation, run } = await running();
    await scenario.command('run');
    await scenario.stop(computation);
    await scenario.command('stop');
    expect((await scenario.commands()).map(({ type }) => type)).toEqual(['stop']);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled', reason: 'Stopped' });
  });

  it('comes too late for a run that completes meanwhile', async () => {
    const { scenario, computation, run } = await accepted();
    const [stopped] = await Promise.all([
      scenario.stop(computation),
      scenario.report([agentEvent(run, 'Complete', 'Completed')]),
    ]);
    expect([200, 409]).toContain(stopped.status);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
  });

  it('lets the run complete when the CVM finishes before it stops', async () => {
    const { scenario, computation, run } = await accepted();
    await scenario.stop(computation);
    await scenario.command('stop');
    await scenario.report([agentEvent(run, 'Complete', 'Completed'), agentEvent(run, 'Stopped', 'Stopped')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'completed' });
  });

  it('is one stop when it is asked for several times at once', async () => {
    const { scenario, computation, run } = await accepted();
    const answers = await Promise.all([1, 2, 3].map(() => scenario.stop(computation)));
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { id: run, status: 'stopping' } });
    await scenario.command('stop');
    await scenario.report([agentEvent(run, 'Stopped', 'Stopped')]);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled' });
    expect((await scenario.statistics())['stopping']).toBe(1);
  });

  it('ends the run when its own execution is aborted by hand', async () => {
    const { scenario, computation, run } = await accepted();
    await scenario.stop(computation);
    await scenario.command('stop');
    await abort('stop', run);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled' });
  });

  it('ends the run as cancelled when the execution of the run is aborted by hand', async () => {
    const { scenario, computation, run } = await accepted();
    await scenario.stop(computation);
    await scenario.command('stop');
    await abort('run', run);
    await expectEndedOnce(lifecycle, scenario, { computation, run, status: 'cancelled', reason: 'did not confirm' });
  });

  it('has nothing to stop when nothing runs', async () => {
    const scenario = await openScenario(lifecycle.stack);
    const computation = await scenario.computation();
    expect(await scenario.stop(computation)).toMatchObject({ status: 409, body: { reason: 'nothing_to_stop' } });
  });
});

describe('after all of it', () => {
  it('leaves a table that does not contradict itself', async () => {
    expect(inconsistencies(await scan(lifecycle.table))).toEqual([]);
  });
});
