import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { callAs, type Call } from '../infra/local/ready-computation.ts';
import { readyComputations } from '../support/builders-ready-computations.ts';
import type { Fault } from '../support/dynamodb-proxy.ts';
import { inconsistencies, scan } from '../support/lifecycle-inconsistencies.ts';
import { agentEvent } from '../support/lifecycle-scenario.ts';
import { startLifecycleStack, type LifecycleStack } from '../support/lifecycle-stack.ts';

let lifecycle: LifecycleStack;
beforeAll(async () => {
  lifecycle = await startLifecycleStack({ acceptInSeconds: 60, silenceInSeconds: 60, runInSeconds: 600, stopInSeconds: 60 });
});
afterAll(() => lifecycle.stop());

const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));
const statusesOf = (answers: { status: number }[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

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

/** So many creates, half as many deletes and half as many starts at once in one domain; then the ends of the runs at once. */
async function changeAtOnce(domain: Domain, count: number, fault: Fault): Promise<number> {
  const { name, call } = domain;
  const ready = await readyComputations(lifecycle.table, call, name, count);
  const [deleted, started] = [ready.slice(0, count / 2), ready.slice(count / 2)];

  lifecycle.tableProxy.inject(fault);
  const [creates, deletes, starts] = await Promise.all([
    Promise.all(times(count, (index) => call('POST', `/${name}/computations`, { name: `computation ${index}` }))),
    Promise.all(deleted.map((id) => call('DELETE', `/${name}/computations/${id}`))),
    Promise.all(started.map((id, index) => call('POST', `/${name}/computations/${id}/run?cvm=cvm-${index}`))),
  ]);
  expect([creates, deletes, starts].map(statusesOf)).toEqual([{ 201: count }, { 204: count / 2 }, { 200: count / 2 }]);
  expect(new Set(creates.map(({ body }) => body['id'])).size).toBe(count);

  const runs = starts.map(({ body }) => body as unknown as string);
  const ends = await Promise.all(
    runs.map((run, index) =>
      call('POST', `/${name}/cvms/cvm-${index}/reports`, { reports: [agentEvent(run, 'Complete', 'Completed')] }),
    ),
  );
  expect(statusesOf(ends)).toEqual({ 200: count / 2 });
  await vi.waitFor(async () => expect(await domain.totalOf('running')).toBe(0), { timeout: 30_000, interval: 200 });
  const faults = lifecycle.tableProxy.faults();
  lifecycle.tableProxy.inject(undefined);
  return faults;
}

async function expectExact({ name, call, totalOf }: Domain, count: number): Promise<void> {
  expect(await Promise.all([totalOf(), totalOf('created'), totalOf('completed')])).toEqual([count * 1.5, count, count / 2]);
  const { body } = await call('GET', `/${name}/computations/statistics`);
  const entries = body['comp_stats'] as { status: string; count: number }[];
  // Those that were deleted or started had been created on another day.
  expect(Object.fromEntries(entries.map((entry) => [entry.status, entry.count]))).toEqual({
    ...{ created: count, running: count / 2, completed: count / 2 },
  });
  await lifecycle.stack.invoke('maintenance/purge', {});
  expect(inconsistencies(await scan(lifecycle.table))).toEqual([]);
}

describe('changes at once in one domain', () => {
  it('get their right answers, 400 of them, while every third transaction meets a conflict', { timeout: 60_000 }, async () => {
    const domain = await openDomain('conflict');
    expect(await changeAtOnce(domain, 200, { kind: 'conflict', share: 1 / 3 })).toBeGreaterThan(200);
    await expectExact(domain, 200);
  });

  it('get their right answers while transactions hold the items that all of them want', { timeout: 60_000 }, async () => {
    const domain = await openDomain('contention');
    const faults = await changeAtOnce(domain, 40, { kind: 'contention', share: 1, holdInMilliseconds: 10 });
    expect(faults).toBeGreaterThan(100);
    await expectExact(domain, 40);
  });

  it('are made once though every eighth answer of the table gets lost', { timeout: 60_000 }, async () => {
    const domain = await openDomain('lost');
    const lost: Fault = { kind: 'lost-answer', share: 1 / 8, operations: ['TransactWriteItems'] };
    expect(await changeAtOnce(domain, 40, lost)).toBeGreaterThan(10);
    await expectExact(domain, 40);
  });

  it('get their right answers though the table throttles every eighth call', { timeout: 60_000 }, async () => {
    const domain = await openDomain('throttled');
    expect(await changeAtOnce(domain, 20, { kind: 'throttling', share: 1 / 8 })).toBeGreaterThan(10);
    await expectExact(domain, 20);
  });
});
