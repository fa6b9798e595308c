import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { mostBytesPerRun, type RunLogs } from '../../gateway/session/run-logs.ts';
import { storedRunLogs } from '../../gateway/session/stored-logs.ts';
import type { Permitted, Relations } from '../../shared/http/caller.ts';
import type { RunReference } from '../../shared/rows/run.ts';
import { readLogState, storeLines } from '../../shared/rows/log-lines.ts';
import { type LogLevel, readLogs } from '../../shared/logs/read-logs.ts';
import { logKeys, runKeys } from '../../shared/table/keys.ts';
import { putItem } from '../../shared/table/writes.ts';
import { aWait } from '../support/a-wait.ts';
import { allowed, aReviewedRun, aRunOnNewCvm, startStores } from '../support/builders-store.ts';
import { untilTestEnds } from '../support/patience.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { inflated } from '../../shared/table/stored.ts';
import { systemClock } from '../../shared/runtime/deadline.ts';
import { getItem, queryPartition } from '../../shared/table/table.ts';

const stores = sharedByTests(startStores);
const others: RunLogs = { write: () => true, end: () => undefined, close: () => Promise.resolve() };
const line = (level: string, message: string) => ({ level, message, computation_id: '', timestamp: null });

const gateway = () =>
  storedRunLogs(
    others,
    { logState: (run) => readLogState(stores.table, run), storeLines: (run, given) => storeLines(stores.table, run, given) },
    systemClock,
  );

const aRun = async (settings: object) => withSettings(await aRunOnNewCvm(stores, 'd1'), settings);

async function withSettings(run: RunReference, settings: object): Promise<RunReference> {
  const key = runKeys.snapshot(run.computation_id, run.run_id);
  await putItem(stores.table, { ...(await getItem(stores.table, key)), ...key, ...settings });
  return run;
}

interface Asked {
  level?: LogLevel;
  after?: string;
  limit?: number;
  now?: string;
  by?: string;
  permit?: (relations: Relations) => Permitted;
}

async function read({ computation_id: id, domain }: RunReference, asked: Asked = {}) {
  const request = {
    level: 'debug' as const,
    after: '',
    limit: 100,
    now: new Date().toISOString(),
    by: 'alice',
    permit: allowed,
    ...asked,
  };
  const { logs, next } = await readLogs(stores.table, { domain, id, ...request }, aWait({ endsAt: 0 }));
  return { messages: logs.map(({ message }) => message), next, logs };
}

describe('the log that the gateway stores', () => {
  it('is read by level and page, and goes on behind the last page', async () => {
    const run = await aRun({ log_access: 'parties' });
    const logs = gateway();
    for (const [level, message] of [
      ['DEBUG', 'a'],
      ['INFO', 'b\u001b[2J\n'],
      ['odd', 'c'],
      ['ERROR', 'd'],
    ] as const) {
      logs.write(run, line(level, message));
    }
    await vi.waitFor(async () => expect((await read(run)).messages).toEqual(['a', 'b [2J', 'c', 'd']), untilTestEnds);
    const first = await read(run, { level: 'info', limit: 2 });
    expect(first.messages).toEqual(['b [2J', 'c']);
    const second = await read(run, { level: 'info', after: first.next });
    expect(second.logs).toMatchObject([{ level: 'error', message: 'd', time: expect.stringMatching(/Z$/) }]);
    expect(await read(run, { after: second.next })).toMatchObject({ messages: [], next: second.next });
    logs.write(run, line('WARN', 'e'));
    await logs.close();
    expect((await read(run, { after: second.next })).messages).toEqual(['e']);
    const inAMonth = new Date(Date.now() + 31 * 24 * 3_600_000).toISOString();
    expect((await read(run, { now: inAMonth })).messages).toEqual([]);
    const [own] = JSON.parse(Buffer.from(first.next, 'base64url').toString()) as [string];
    const madeUp = [`${own}~`, `${run.run_id}#~~`, 'zzz', own.replace(run.run_id, randomUUID())];
    for (const after of ['x', ...madeUp.map((chunk) => Buffer.from(JSON.stringify([chunk, 0])).toString('base64url'))]) {
      await expect(read(run, { after })).rejects.toMatchObject({ code: 'invalid_request' });
    }
  });

  it('shows its younger lines at once, from the beginning and from a place in a part that has expired and is still stored', async () => {
    const run = await aRun({ log_access: 'parties' });
    const now = Date.now();
    const longAgo = now - 31 * 24 * 3_600_000;
    const store = async (at: number, message: string) => {
      const lines = [{ time: new Date(at).toISOString(), level: 'info', message }];
      await storeLines(stores.table, run, { lines, size_in_bytes: 100, at, part: 'a' });
    };
    for (let chunk = 0; chunk < 10; chunk++) await store(longAgo + chunk * 1_000, `old ${chunk}`);
    await store(now - 60_000, 'young');
    const { messages, next } = await read(run, { now: new Date(longAgo + 60_000).toISOString(), limit: 1 });
    expect(messages).toEqual(['old 0']);
    for (const after of ['', next]) expect(await read(run, { after })).toMatchObject({ messages: ['young'] });
  });

  it('is neither stored nor read if the run began with log_access none', async () => {
    const run = await aRun({ log_access: 'none' });
    const logs = gateway();
    logs.write(run, line('INFO', 'secret'));
    await logs.close();
    expect(await queryPartition(stores.table, logKeys.partition(run.computation_id))).toEqual([]);
    await expect(read(run)).rejects.toMatchObject({ code: 'forbidden', extras: { reason: 'logs_not_shared' } });
  });

  it('is open to the parties of the run, to creators only where nobody could link an asset to read it', async () => {
    const partiesOf = async (settings: object) => {
      const permit = vi.fn(allowed);
      await read(await aRun({ log_access: 'parties', ...settings }), { permit });
      return permit.mock.lastCall;
    };
    const parties = { owner: 'alice', consumer: ['alice'], reviewer: [] };
    expect(await partiesOf({})).toEqual([{ ...parties, creator: [] }]);
    expect(await partiesOf({ shows_creators_logs: true })).toEqual([{ ...parties, creator: ['alice'] }]);
  });

  it('ends at 8 MiB with a line that says so, also at another gateway', async () => {
    const run = await aRun({ log_access: 'parties' });
    for (let gateways = 0; gateways < 2; gateways++) {
      const logs = gateway();
      for (let count = 0; count < 4_000; count++) {
        logs.write(run, line('ERROR', `${count} ${'x'.repeat(2_400)}`));
        if (count % 100 === 0) await logs.close();
        if (count % 500 === 0) logs.end(run.run_id);
      }
      await logs.close();
    }
    const chunks = await queryPartition(stores.table, logKeys.partition(run.computation_id));
    expect(chunks.length).toBeLessThan(200);
    const { bytes } = await readLogState(stores.table, run);
    expect(bytes).toBe(mostBytesPerRun);
    const texts = chunks.map((chunk) => inflated(chunk['lines'] as Uint8Array));
    const total = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(total).toBeLessThanOrEqual(mostBytesPerRun);
    expect(total).toBeGreaterThan(mostBytesPerRun * 0.98);
    expect(texts.filter((text) => text.includes('8 MiB'))).toEqual([texts.at(-1)]);
  });
});

describe('the log of a run with a review', () => {
  it('is read by the reviewers alone until the result is released', async () => {
    const settings = { log_access: 'parties' };
    const [open, released] = [
      await withSettings(await aReviewedRun(stores, 'd1'), settings),
      await withSettings(await aReviewedRun(stores, 'd1', 'released'), settings),
    ];
    await expect(read(open, { by: 'alice' })).resolves.toMatchObject({ messages: [] });
    for (const by of ['olga', 'carol']) {
      const detail = /^Only the reviewers of the result/;
      await expect(read(open, { by })).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringMatching(detail) as string,
      });
      await expect(read(released, { by })).resolves.toMatchObject({ messages: [] });
    }
  });
});
