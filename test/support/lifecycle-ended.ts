import { expect, vi } from 'vitest';
import { executionStatus } from '../../shared/runs/executions.ts';
import { endingOf, waysToEnd, type WayToEnd } from '../../shared/runs/ways-to-end.ts';
import { cvmKeys } from '../../shared/table/keys.ts';
import { getItem } from '../../shared/table/table.ts';
import { agentEvent, cvm1, type Scenario } from './lifecycle-scenario.ts';
import type { LifecycleStack } from './lifecycle-stack.ts';
import { untilTestEnds } from './patience.ts';

interface Ending {
  computation: string;
  run: string;
  status: 'completed' | 'failed' | 'cancelled';
  /** A part of the reason that users see. */
  reason?: string;
  cvm?: string;
  /** The number of runs of this domain that have ended with this status. Default 1. */
  times?: number;
}

/**
 * Expects that the run ends with this status exactly once: it has one final event, which is counted once, and no claim, command
 * or execution is left. Its CVM and its computation are free, which another completed run proves.
 */
export async function expectEndedOnce(lifecycle: LifecycleStack, scenario: Scenario, ending: Ending): Promise<void> {
  const { computation, run, status, reason, cvm = cvm1, times = 1 } = ending;
  await vi.waitFor(async () => expect(await scenario.statusOf(computation)).toBe(status), untilTestEnds);
  await expectNothingLeft(lifecycle, scenario, run, cvm);

  const ended = await scenario.runOf(computation);
  expect(ended).toMatchObject({ id: run, status, reason: expect.stringContaining(reason ?? '') as string });
  expect(isInTable(status, String(ended['reason']))).toBe(true);
  expect(Date.parse(String(ended['ended_at']))).toBeGreaterThanOrEqual(Date.parse(String(ended['started_at'])));
  const finals = (await scenario.eventsOf(computation, run)).filter((event) => /^(?:completed|failed|cancelled)\//.test(event));
  expect(finals).toEqual([`${status}/${status === 'failed' ? 'failure' : 'success'}`]);
  expect((await scenario.statistics())[status]).toBe(times);

  const next = await scenario.start(computation, cvm);
  await scenario.accept(cvm);
  await scenario.report([agentEvent(next, 'Complete', 'Completed')], cvm);
  await vi.waitFor(
    async () => expect(await scenario.runOf(computation)).toMatchObject({ id: next, status: 'completed' }),
    untilTestEnds,
  );
  await expectNothingLeft(lifecycle, scenario, next, cvm);
}

/** Whether a way of the table ends like this. */
function isInTable(status: string, reason: string): boolean {
  const ways: WayToEnd[] = Object.values(waysToEnd).flatMap((ofFunction) => Object.values<WayToEnd>(ofFunction));
  return ways.some((way) =>
    (['running', 'stopping'] as const).some((before) => {
      if (endingOf(way, before).status !== status) return false;
      const [start = '', end = ''] = endingOf(way, before, '…').reason.split('…');
      const isWithDetail = start !== '' && reason.startsWith(start) && reason.endsWith(end);
      return isWithDetail || reason === endingOf(way, before).reason;
    }),
  );
}

async function expectNothingLeft(
  { table, executions }: LifecycleStack,
  scenario: Scenario,
  run: string,
  cvm: string,
): Promise<void> {
  await vi.waitFor(async () => {
    expect(await executionStatus(executions, 'run', run)).not.toBe('RUNNING');
    expect(await executionStatus(executions, 'stop', run)).not.toBe('RUNNING');
  }, untilTestEnds);
  expect(await getItem(table, cvmKeys.claim(scenario.domain, cvm))).toBeUndefined();
  expect(await scenario.commands(cvm)).toEqual([]);
}
