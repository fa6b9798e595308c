import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkLogs } from '../../../infra/accept/check-logs.ts';
import { facts } from '../../../infra/accept/facts.ts';
import { stageNamed } from '../../../infra/stages/stage-named.ts';
import { startAnswering } from '../../support/local-requests.ts';

/** How long each function took to start, and what else they logged. */
let starts: number[] = [];
let others: object[] = [];
let logs: Awaited<ReturnType<typeof startAnswering>>;
beforeEach(async () => {
  // An emulator ignores the pattern, so every query gets everything. Only the first function logged something.
  logs = await startAnswering(({ body }) => {
    const entries = [
      ...starts.map((initDurationMs) => ({ type: 'platform.report', record: { metrics: { initDurationMs } } })),
      ...others,
    ];
    const events = entries.map((entry) => ({ message: JSON.stringify(entry) }));
    return { events: body.includes('create-computation') ? events : [] };
  });
  vi.stubEnv('AWS_ENDPOINT_URL', logs.endpoint);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  others = [];
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await logs.stop();
});

const check = () => checkLogs(stageNamed('dev'), 0);

describe('the check of the logs', () => {
  it.each([
    [[200, 450, 900], true],
    [[200, 451, 900], false],
  ])('compares the median of the cold starts %j with what the documents count on: %s', async (durations, holds) => {
    starts = durations;
    const [coldStarts] = await check();
    expect(facts.coldStarts.documented).toContain('300 ms');
    expect(coldStarts).toMatchObject({ measured: `3, median ${durations[1]} ms, worst 900 ms`, holds });
  });

  it('measures nothing if nothing was logged', async () => {
    starts = [];
    const measured = 'not measured: none was logged';
    expect(await check()).toEqual([
      { ...facts.coldStarts, measured },
      { ...facts.conflicts, measured },
    ]);
  });

  it('counts the conflicts', async () => {
    others = [{ ConflictsRetried: 1 }, { ConflictsRetried: 2 }, { level: 'INFO' }];
    expect((await check())[1]).toEqual({ ...facts.conflicts, measured: '2 retried', holds: true });
  });
});
