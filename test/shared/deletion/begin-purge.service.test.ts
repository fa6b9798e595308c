import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { localCredentials } from '../../../local/machine/environment.ts';
import { listen, type Listening } from '../../../local/machine/listen.ts';
import { beginPurge } from '../../../shared/deletion/begin-purge.ts';
import type { Deadline } from '../../../shared/runtime/deadline.ts';
import { deadlineOf, type Table } from '../../../shared/table/table.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
let lines: Record<string, unknown>[] = [];
let called: string[] = [];
let lambda: Listening;
let purgeUrl: string;
beforeAll(async () => {
  const server = createServer(({ url = '', headers }, response) => {
    const [, name = ''] = /\/functions\/([^/]+)\/invocations$/.exec(url) ?? [];
    const isKnown = name === 'maintenance-purge' && headers['x-amz-invocation-type'] === 'Event';
    if (isKnown) called.push(name);
    response.writeHead(isKnown ? 202 : 404).end();
  });
  lambda = await listen(server, 0);
  purgeUrl = `${lambda.endpoint}/2015-03-31/functions/maintenance-purge/invocations`;
});
afterAll(() => lambda.stop());
beforeEach(() => {
  lines = [];
  called = [];
  vi.stubEnv('PURGE_URL', purgeUrl);
  vi.stubEnv('AWS_REGION', 'local');
  vi.stubEnv('AWS_ACCESS_KEY_ID', localCredentials.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', localCredentials.secretAccessKey);
  vi.stubEnv('LOG_LEVEL', 'INFO');
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(JSON.parse(String(line)) as Record<string, unknown>);
    return true;
  });
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: start });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const table = { name: 'table' } as Table;
const entries = () => lines.map(({ level, message }) => `${String(level)} ${String(message)}`);

describe('beginPurge', () => {
  it('gives all operations of the purge one deadline of 1.5 seconds', async () => {
    const deadlines: Deadline[] = [];
    await beginPurge(table, async (given) => void deadlines.push(deadlineOf(given), deadlineOf(given)));
    expect(deadlines[0]).toBe(deadlines[1]);
    expect(deadlines[0]?.remaining).toBe(1_500);
    expect(entries()).toEqual([]);
    expect(called).toEqual([]);
  });

  it('warns of a failure before the deadline', async () => {
    await beginPurge(table, async () => {
      vi.advanceTimersByTime(1_499);
      throw new Error('No answer.');
    });
    expect(entries()).toEqual(['WARN The purge failed and will be retried.']);
    expect(called).toEqual(['maintenance-purge']);
    expect(lines[0]).toMatchObject({ error: { message: 'No answer.' } });
  });

  it('only notes that the time was too short for all', async () => {
    await beginPurge(table, async () => {
      vi.advanceTimersByTime(1_500);
      throw new Error('The deadline has passed.');
    });
    expect(entries()).toEqual(['INFO The purge continues in the background.']);
    expect(called).toEqual(['maintenance-purge']);
  });

  it.each([
    ['refuses', () => purgeUrl.replace('maintenance', 'missing'), 'Lambda answered 404'],
    ['is away', () => 'http://127.0.0.1:1', 'fetch failed'],
  ])('leaves the rest to the schedule if Lambda %s', async (_how, url, message) => {
    vi.stubEnv('PURGE_URL', url());
    await beginPurge(table, async () => {
      throw new Error('No answer.');
    });
    expect(entries().at(-1)).toBe('WARN The purge could not be called. It continues within a minute.');
    expect(lines.at(-1)).toMatchObject({ error: { message: expect.stringContaining(message) } });
    expect(called).toEqual([]);
  });
});
