import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { defaultAgentConfig } from '../../shared/rows/agent-config.ts';
import { createComputation } from '../../shared/computations/create-computation.ts';
import { deleteComputation } from '../../shared/computations/delete-computation.ts';
import { recordReports } from '../../shared/cvms/record-reports.ts';
import { startRun } from '../../shared/runs/start-run.ts';
import { callAs, type Call } from '../support/ready-computation.ts';
import { amount, oneIn } from '../support/amounts.ts';
import { readyComputations } from '../support/builders-ready-computations.ts';
import { allowed, computationFields, noKey } from '../support/builders-store.ts';
import type { Fault } from '../support/dynamodb-proxy.ts';
import { inconsistencies, scan } from '../support/inconsistencies.ts';
import { reportId, startLifecycleStack } from '../support/lifecycle-stack.ts';
import { untilTestEnds } from '../support/patience.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

beforeEach(oneIn(2));

const lifecycle = sharedByTests(startLifecycleStack);

const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));

interface Domain {
  name: string;
  call: Call;
  totalOf: (status?: string) => Promise<unknown>;
}

async function openDomain(name: string): Promise<Domain> {
  const call = callAs(lifecycle.stack.baseUrl, await lifecycle.stack.token('alice', [`${name}:administrator`, `${name}:cvm`]));
  const totalOf = async (status?: string) => {
    const filter = status === undefined ? '' : `&status=${status}`;
    return (await call('GET', `/${name}/computations?limit=1${filter}`)).body['total'];
  };
  return { name, call, totalOf };
}

/**
 * Runs the given number of creates, half as many deletes and half as many starts at the same time in one domain, then ends all
 * runs at the same time. Calls the store functions with a long deadline, because over HTTP a slow machine would answer 503 to
 * those that take longer than 5 seconds.
 */
async function changeAtOnce(domain: Domain, count: number, fault: Fault): Promise<number> {
  const { name, call } = domain;
  const { disturbedTable: table, executions, tableProxy, now } = lifecycle;
  const ready = await readyComputations(lifecycle.table, call, name, count);
  const [deleted, started] = [ready.slice(0, count / 2), ready.slice(count / 2)];

  tableProxy.inject(fault);
  onTestFinished(() => tableProxy.inject(undefined));
  const create = (index: number) =>
    createComputation(table, {
      domain: name,
      fields: computationFields({ name: `computation ${index}` }),
      agent_config: defaultAgentConfig,
      seal: noKey,
      attestation_policy: null,
      result_review: null,
      consumers: [],
      providers: [],
      by: 'alice',
      now: now(),
    });
  const start = (computationId: string, index: number) =>
    startRun(table, executions, { domain: name, computationId, cvmId: `cvm-${index}`, by: 'alice', now: now(), permit: allowed });
  const [creates, , starts] = await Promise.all([
    Promise.all(times(count, create)),
    Promise.all(deleted.map((id) => deleteComputation(table, { domain: name, id, permit: allowed }))),
    Promise.all(started.map(start)),
  ]);
  expect(new Set(creates.map(({ row }) => row.id)).size).toBe(count);

  const complete = ({ runId: run_id }: { runId: string }, index: number) =>
    recordReports(table, executions, {
      domain: name,
      cvmId: `cvm-${index}`,
      reports: [{ id: reportId(), run_id, type: 'event', event_type: 'Complete', status: 'Completed', originator: 'agent' }],
      now: now(),
    });
  expect(await Promise.all(starts.map(complete))).toMatchObject(times(count / 2, () => ({ accepted: 1, duplicates: 0 })));
  await vi.waitFor(async () => expect(await domain.totalOf('running')).toBe(0), untilTestEnds);
  const faults = tableProxy.faults();
  tableProxy.inject(undefined);
  return faults;
}

async function expectExact({ name, call, totalOf }: Domain, count: number): Promise<void> {
  expect(await Promise.all([totalOf(), totalOf('created'), totalOf('completed')])).toEqual([count * 1.5, count, count / 2]);
  const { body } = await call('GET', `/${name}/computations/statistics`);
  const entries = body['comp_stats'] as { status: string; count: number }[];
  // The computations that were deleted or started were created on another day.
  expect(Object.fromEntries(entries.map((entry) => [entry.status, entry.count]))).toEqual({
    created: count,
    running: count / 2,
    completed: count / 2,
  });
  await lifecycle.stack.invoke('maintenance/purge', {});
  expect(inconsistencies(await scan(lifecycle.table))).toEqual([]);
}

describe('changes in one domain at the same time', () => {
  const many = amount({ sample: 16, full: 200 });
  const some = amount({ sample: 20, full: 40 });
  it(`are each made once, ${2 * many} of them, while every third transaction conflicts`, async () => {
    const domain = await openDomain('conflict');
    expect(await changeAtOnce(domain, many, { kind: 'conflict', share: 1 / 3 })).toBeGreaterThan(many);
    await expectExact(domain, many);
  });

  it('are all made once, and do not conflict with each other, while transactions hold their items', async () => {
    const domain = await openDomain('contention');
    const faults = await changeAtOnce(domain, some, { kind: 'contention', share: 1, holdInMilliseconds: 10 });
    expect(faults).toBeLessThan(some); // of one computation: a sweep, or a fold of its entry. A shared item would give hundreds
    await expectExact(domain, some);
  });

  it('are all made once while every eighth answer of the table is lost', async () => {
    const domain = await openDomain('lost');
    const lost: Fault = { kind: 'lost-answer', share: 1 / 8, operations: ['TransactWriteItems'] };
    expect(await changeAtOnce(domain, some, lost)).toBeGreaterThan(amount({ sample: 5, full: 10 }));
    await expectExact(domain, some);
  });

  it('are all made once while the table throttles every eighth call', async () => {
    const domain = await openDomain('throttled');
    expect(await changeAtOnce(domain, 20, { kind: 'throttling', share: 1 / 8 })).toBeGreaterThan(10);
    await expectExact(domain, 20);
  });
});
