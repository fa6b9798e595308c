import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { removeAsset } from '../../../shared/assets/change-asset.ts';
import { readAsset } from '../../../shared/assets/read-asset.ts';
import { readComputation } from '../../../shared/computations/read-computation.ts';
import { readEvents } from '../../../shared/events/read-events.ts';
import { readClaim, type Claim } from '../../../shared/runs/claim.ts';
import { completeStop, executionEnded, recordOutcome } from '../../../shared/runs/end-run.ts';
import { recordReports } from '../../../shared/runs/record-reports.ts';
import type { EndedBy } from '../../../shared/runs/state-machine.ts';
import type { RunReference } from '../../../shared/computations/run.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { sweepRuns } from '../../../shared/runs/sweep-runs.ts';
import { deliverStop, offerRun } from '../../../shared/runs/waiting-steps.ts';
import { waysToEnd, type WayToEnd } from '../../../shared/runs/ways-to-end.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { aReadyComputation, aRun, aRunOnNewCvm, byAlice, endRunWith, startStores } from '../../support/builders-store.ts';
import { startIdleStepFunctions } from '../../support/simulated-step-functions.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);
const domain = 'd1';
const { now } = byAlice;

type StartedRun = Awaited<ReturnType<typeof aRunOnNewCvm>>;
type Ways = typeof waysToEnd;

/**
 * Makes a run end in one way. `stop` asks for its stop, if it is to be `stopping` before.
 * @returns the detail of the reason, and the computation whose run ended if it is another one
 */
type MakeEnd = (
  run: StartedRun,
  stop: (run: RunReference) => Promise<unknown>,
) => Promise<{ detail?: string; computationId?: string }>;

const recorded = (run: RunReference) => recordOutcome(stores.table, stores.executions, { run }, now);

const eventComes =
  (event: [string, string]): MakeEnd =>
  async (run, stop) => {
    await stop(run);
    await endRunWith(stores, domain, run.run_id, event);
    return {};
  };

const commandIsRejected =
  (command: 'run_command_id' | 'stop_command_id'): MakeEnd =>
  async (run, stop) => {
    await stop(run);
    const { [command]: command_id } = (await readClaim(stores.table, run)) as Claim;
    const report = { id: 'r', run_id: run.run_id, type: 'rejected' as const, command_id, reason: 'no memory' };
    await recordReports(stores.table, stores.executions, { domain, cvmId: run.cvm_id, reports: [report], now });
    await recorded(run);
    return { detail: 'no memory' };
  };

const executionEndsWith =
  (endedBy: EndedBy): MakeEnd =>
  async (run, stop) => {
    await stop(run);
    await recordOutcome(stores.table, stores.executions, { run, endedBy }, now);
    return {};
  };

const offer = (run: RunReference) =>
  offerRun(stores.table, stores.executions, { run, task_token: 'token' }, { now, acceptInSeconds: 60 });

/** Sweeps with a state machine that knows no execution, or says that each has this status. */
async function sweep(status?: string): Promise<void> {
  const { executions, stop } = await startIdleStepFunctions();
  if (status !== undefined) {
    executions.client.middlewareStack.add(
      (next, { commandName }) =>
        async (sent) =>
          commandName === DescribeExecutionCommand.name ? { output: { $metadata: {}, status }, response: {} } : await next(sent),
      { step: 'initialize' },
    );
  }
  await sweepRuns(stores.table, executions, now, { graceInSeconds: 0 });
  await stop();
}

const makeEnd: { [By in keyof Ways]: { [Cause in keyof Ways[By]]: MakeEnd } } = {
  recordReports: {
    'ConsumingResults/Ready': eventComes(['ConsumingResults', 'Ready']),
    'Complete/Completed': eventComes(['Complete', 'Completed']),
    'Failed/Failed': eventComes(['Failed', 'Failed']),
    'Stopped/Stopped': eventComes(['Stopped', 'Stopped']),
    stopped: async (run, stop) => {
      await stop(run);
      await deliverStop(stores.table, stores.executions, { run, task_token: 'token' }, { now, stopInSeconds: 60 });
      await endRunWith(stores, domain, run.run_id, ['Stopped', 'Stopped']);
      return {};
    },
    runRejected: commandIsRejected('run_command_id'),
    stopRejected: commandIsRejected('stop_command_id'),
  },
  offerRun: {
    stopped: async (run, stop) => {
      await stop(run);
      await offer(run);
      await recorded(run);
      return {};
    },
    assetDeleted: async (run, stop) => {
      const transaction = new Transaction();
      removeAsset(transaction, domain, await readAsset(stores.table, domain, run.algorithm));
      await transaction.commit(stores.table);
      await offer(run);
      await stop(run);
      await recorded(run);
      return { detail: run.algorithm };
    },
  },
  completeStop: {
    unconfirmed: async (run, stop) => {
      await stop(run);
      await completeStop(stores.table, stores.executions, run, now);
      return {};
    },
  },
  recordOutcome: {
    not_accepted: executionEndsWith('not_accepted'),
    silence: executionEndsWith('silence'),
    run_timeout: executionEndsWith('run_timeout'),
    failure: executionEndsWith('failure'),
  },
  executionEnded: {
    executionEnded: async ({ algorithm: _, ...run }, stop) => {
      await stop(run);
      const detail = { name: `run-${run.run_id}`, status: 'ABORTED', input: { action: 'run' as const, ...run } };
      await executionEnded(stores.table, stores.executions, { detail }, now);
      return { detail: 'ABORTED' };
    },
  },
  sweepRuns: {
    executionEnded: async (run, stop) => {
      await stop(run);
      await sweep('TIMED_OUT');
      return { detail: 'TIMED_OUT' };
    },
    executionGone: async (run, stop) => {
      await stop(run);
      await sweep();
      return {};
    },
  },
  startRun: {
    notStarted: async (started, stop) => {
      await endRunWith(stores, domain, started.run_id);
      const { id } = await aReadyComputation(stores, domain);
      const run = { domain, computation_id: id, run_id: '', cvm_id: started.cvm_id };
      const { executions, stop: stopExecutions } = await startIdleStepFunctions();
      const fail = async () => {
        await stop(run);
        throw new Error('It is down.');
      };
      executions.client.middlewareStack.add(() => fail, { step: 'initialize' });
      await expect(aRun({ table: stores.table, executions }, domain, id, run.cvm_id)).rejects.toThrow('It is down.');
      await stopExecutions();
      return { computationId: id };
    },
  },
};

const rows = Object.entries(waysToEnd).flatMap(([by, ways]) =>
  Object.entries(ways as Record<string, WayToEnd>).flatMap(([cause, way]) =>
    Object.entries(way.statuses).map(([before, after]) => ({ by, cause, before, after, way })),
  ),
);

/** What the event of the end says of the stop. */
async function confirmationOf(computationId: string): Promise<unknown> {
  const { events } = await readEvents(stores.table, computationId, {}, { limit: 100, offset: 0 });
  const end = events.find(({ event_type }) => ['completed', 'failed', 'cancelled'].includes(event_type));
  return (JSON.parse(Buffer.from(end?.details ?? '', 'base64').toString()) as { confirmed?: boolean }).confirmed;
}

describe('waysToEnd', () => {
  it.each(rows)('$by, $cause: a run that is $before is $after then', async ({ by, cause, before, after, way }) => {
    const run = await aRunOnNewCvm(stores, domain);
    const stop = async ({ computation_id }: RunReference) => {
      if (before === 'stopping')
        await stopRun(stores.table, stores.executions, { domain, computationId: computation_id, ...byAlice });
    };
    const make = (makeEnd as Record<string, Record<string, MakeEnd>>)[by]?.[cause];
    const { detail = '', computationId = run.computation_id } = (await make?.(run, stop)) ?? {};
    const { run: ended } = await readComputation(stores.table, domain, computationId);
    expect(ended).toMatchObject({ status: after, reason: expect.stringContaining(way.reason(detail)) as string });
    const isConfirmed = before === 'stopping' && after === 'cancelled' ? (way.is_confirmed ?? false) : way.is_confirmed;
    expect(await confirmationOf(computationId)).toBe(isConfirmed);
  });
});
