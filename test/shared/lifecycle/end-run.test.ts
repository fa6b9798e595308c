import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { numberedId } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import { removeAsset, readAsset } from '../../../shared/rows/asset.ts';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import type { SealKey } from '../../../shared/rows/sealed-key.ts';
import { type ComputationToChange, readToChange } from '../../../shared/rows/change-computation.ts';
import { type ComputationFields, readComputation } from '../../../shared/rows/computation.ts';
import { type EndedBy, readRun, type Run, type RunReference, waysToEnd, type WayToEnd } from '../../../shared/rows/run.ts';
import { updateComputation } from '../../../shared/computations/update-computation.ts';
import { readEvents } from '../../../shared/events/read-events.ts';
import { addRun, changeRun, removeRun } from '../../../shared/rows/change-run.ts';
import { type Claim, readClaim } from '../../../shared/rows/claim.ts';
import {
  completeStop,
  endRun,
  executionEnded,
  recordOutcome,
  failRun,
  deliverStop,
  offerRun,
} from '../../../shared/lifecycle/run-steps.ts';
import { listCommands } from '../../../shared/cvms/list-commands.ts';
import { recordReports } from '../../../shared/cvms/record-reports.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { sweepRuns } from '../../../shared/lifecycle/sweep-runs.ts';
import { cvmKeys, runKeys } from '../../../shared/table/keys.ts';
import { ConditionFailedError, Transaction, StaleReadError } from '../../../shared/table/transaction.ts';
import { clockOfTests } from '../../support/append-to-journal.ts';
import {
  aComputation,
  allowed,
  aReadyComputation,
  aResumedRun,
  aRun,
  aRunOnNewCvm,
  byAlice,
  endRunWith,
  startStores,
} from '../../support/builders-store.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { beforeTheNextTransaction } from '../../support/interleave.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { startIdleStepFunctions } from '../../support/simulated-step-functions.ts';
import { getItems, queryPartition } from '../../../shared/table/table.ts';

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

  it("removes the CVM's commands and the server key from the run", async () => {
    const { id } = await aReadyComputation(stores, domain);
    const agent_config = { ...defaultAgentConfig, cert_file: 'certificate', server_key: 'secret' };
    const decide = (fields: ComputationFields) => ({
      fields,
      agent_config,
      attestation_policy: null,
      result_review: null,
      consumers: [],
      providers: [],
      permitted: allowed(),
    });
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

const { now } = byAlice;

type StartedRun = Awaited<ReturnType<typeof aRunOnNewCvm>>;
type Ways = typeof waysToEnd;

/**
 * Makes a run end in one way. `stop` requests its stop, if the run is to be `stopping` before.
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

/** Sweeps with a state machine that knows no execution, or says that each execution has this status. */
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
  failRun: {
    notAttested: async (run, stop) => {
      await stop(run);
      const claim = await readClaim(stores.table, run);
      if (claim) await failRun(stores.table, stores.executions, claim, 'debug: the host may debug the guest');
      await recorded(run);
      return { detail: 'debug: the host may debug the guest' };
    },
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

/** Returns `confirmed` in the details of the event that ended a run: whether the CVM confirmed the stop. */
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

const embedded = sharedByTests(startEmbeddedTable);

const entry = { originator: 'alice', details: {}, now: clockOfTests };
let runs = 0;

async function change(computationId: string, act: (transaction: Transaction, computation: ComputationToChange) => unknown) {
  const transaction = new Transaction();
  await act(transaction, await readToChange(embedded.table, domain, computationId));
  await transaction.commit(embedded.table);
}

const add = (run: Run) =>
  change(run.computation_id, (transaction, computation) => addRun(embedded.table, transaction, computation, run, entry));
const end = (before: Run, status: Run['status']) =>
  change(before.computation_id, (transaction, computation) =>
    changeRun(embedded.table, transaction, computation, { before, after: { ...before, status } }, entry),
  );
const remove = (run: Run) => change(run.computation_id, (transaction) => removeRun(transaction, domain, run));

async function aStartedRun(): Promise<Run> {
  const run: Run = {
    id: numberedId(++runs),
    computation_id: await aComputation(embedded.table, domain),
    cvm_id: 'cvm-1',
    status: 'running',
    started_at: clockOfTests,
    ended_at: null,
    started_by: 'alice',
    reason: null,
    reason_code: null,
    result: null,
    manifest_digest: 'ab'.repeat(32),
    configuration_digest: 'cd'.repeat(32),
  };
  await add(run);
  return run;
}

describe('addRun', () => {
  it('replaces no run that has the same identifier', async () => {
    const run = await aStartedRun();
    const computation_id = await aComputation(embedded.table, domain);
    await expect(add({ ...run, computation_id })).rejects.toBeInstanceOf(ConditionFailedError);
  });
});

describe('changeRun', () => {
  it('fails with StaleReadError if the run has changed since it was read, and its computation was read after that', async () => {
    const run = await aStartedRun();
    await end(run, 'failed');
    await expect(end(run, 'completed')).rejects.toBeInstanceOf(StaleReadError);
  });
});

describe('removeRun', () => {
  it('fails with ConditionFailedError if the run was removed before', async () => {
    const run = await aStartedRun();
    await remove(run);
    await expect(remove(run)).rejects.toBeInstanceOf(ConditionFailedError);
  });
});
