import { describe, expect, it } from 'vitest';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { deliverStop, offerRun } from '../../../shared/lifecycle/run-steps.ts';
import { readClaim } from '../../../shared/rows/claim.ts';
import { listCommands, watchCommands } from '../../../shared/cvms/list-commands.ts';
import { recordReports } from '../../../shared/cvms/record-reports.ts';
import type { Report } from '../../../shared/cvms/report.ts';
import type { RunReference } from '../../../shared/rows/run.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { cvmKeys } from '../../../shared/table/keys.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { aRunOnNewCvm, byAlice, endRunWith, startStores } from '../../support/builders-store.ts';
import { beforeTheNextTransaction } from '../../support/interleave.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { openKms } from '../../../shared/runtime/clients.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';
const { now } = byAlice;
const after = (milliseconds: number) => new Date(Date.parse(now) + milliseconds).toISOString();

const aStartedRun = () => aRunOnNewCvm(stores, domain);
const offer = (run: RunReference) =>
  offerRun(stores.table, stores.executions, { run, task_token: 'offer' }, { now, acceptInSeconds: 60 });
const stop = async (run: RunReference) => {
  await stopRun(stores.table, stores.executions, { domain, computationId: run.computation_id, ...byAlice });
};
const deliver = (run: RunReference) =>
  deliverStop(stores.table, stores.executions, { run, task_token: 'stop' }, { now: after(1), stopInSeconds: 60 });
const report = (run: RunReference, fields: Partial<Report>) => {
  const reports = [{ id: crypto.randomUUID(), run_id: run.run_id, ...fields } as Report];
  return recordReports(stores.table, stores.executions, { domain, cvmId: run.cvm_id, reports, now });
};
const accept = (run: RunReference) =>
  report(run, { type: 'event', event_type: 'Running', status: 'InProgress', originator: 'agent' });
const work = (run: RunReference, at = now) => listCommands(stores.table, domain, run.cvm_id, at);

/** Returns the commands that are listed for a CVM, by their types, and the state of the run that holds it. */
async function told(run: RunReference, at = now) {
  const { commands, run: held } = await work(run, at);
  return {
    commands: commands.map(({ type }) => type),
    held: held && [held.status, held.accepted_at, held.stop_command_id !== null],
  };
}

describe('listCommands', () => {
  it('lists a command up to the moment it expires, and no longer', async () => {
    const run = await aStartedRun();
    await offer(run);
    expect((await told(run, after(59_999))).commands).toEqual(['run']);
    expect((await told(run, after(60_000))).commands).toEqual([]);
    expect((await told(run, after(60_001))).commands).toEqual([]);
  });

  it.each([
    ['run', 'stop', -1],
    ['stop', 'run', 2],
  ])('lists the %s before the %s if it was issued first', async (first, second, ofRun) => {
    const run = await aStartedRun();
    await offer(run);
    const [command] = (await work(run)).commands;
    await stop(run);
    await deliver(run);
    const stored = { ...command, type: 'run', issued_at: after(ofRun), manifest: undefined, agent_config: undefined };
    await putItem(stores.table, { ...cvmKeys.command(run, 'run'), ...stored });
    expect((await told(run)).commands).toEqual([first, second]);
  });

  it('returns the run that holds the CVM, from its start to its end', async () => {
    const run = await aStartedRun();
    const claim = await readClaim(stores.table, run);
    expect(await work(run)).toEqual({
      commands: [],
      run: {
        id: run.run_id,
        computation_id: run.computation_id,
        status: 'running',
        run_command_id: claim?.run_command_id,
        accepted_at: null,
        stop_command_id: null,
      },
    });
    await offer(run);
    expect((await work(run)).commands).toMatchObject([{ id: claim?.run_command_id, manifest: { id: run.computation_id } }]);
    await accept(run);
    expect(await told(run)).toEqual({ commands: [], held: ['running', now, false] });
    await stop(run);
    expect(await told(run)).toEqual({ commands: [], held: ['stopping', now, true] });
    await deliver(run);
    expect(await work(run)).toMatchObject({
      commands: [{ id: claim?.stop_command_id }],
      run: { stop_command_id: claim?.stop_command_id },
    });
    await endRunWith(stores, domain, run.run_id, ['Stopped', 'Stopped']);
    expect(await work(run)).toEqual({ commands: [], run: null });
  });

  it.each<[string, (run: RunReference) => Promise<unknown>, Awaited<ReturnType<typeof told>>]>([
    ['accepted', accept, { commands: [], held: ['running', now, false] }],
    ['stopped', stop, { commands: ['run'], held: ['stopping', null, true] }],
    ['ended', (run) => endRunWith(stores, domain, run.run_id), { commands: [], held: null }],
  ])('lists what is true at one moment of a run that is %s while it reads', async (_what, act, expected) => {
    const run = await aStartedRun();
    await offer(run);
    beforeTheNextTransaction(stores.mortal, () => act(run), 'TransactGet');
    const { commands, run: held } = await listCommands(stores.mortal, domain, run.cvm_id, now);
    expect({
      commands: commands.map(({ type }) => type),
      held: held && [held.status, held.accepted_at, held.stop_command_id !== null],
    }).toEqual(expected);
  });
});

describe('watchCommands', () => {
  it('returns a command that is there already without waiting', async () => {
    const run = await aStartedRun();
    await offer(run);
    const clock = { now: () => Date.parse(now), wait: () => Promise.reject(new Error('It waits.')) };
    const wait = { clock, endsAt: Date.parse(now) + 20_000, endpoint: 'watch', domain, perStage: 1, perDomain: 1 };
    const kms = openKms(() => new Deadline());
    const { commands } = await watchCommands(stores.table, kms, { domain, cvmId: run.cvm_id, now }, wait);
    expect(commands).toMatchObject([{ type: 'run', run_id: run.run_id }]);
  });
});
