import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { beginPurge } from '../../../shared/deletion/begin-purge.ts';
import type { Deadline } from '../../../shared/deadline.ts';
import { deadlineOf, type Table } from '../../../shared/table/table.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
let lines: Record<string, unknown>[] = [];
beforeEach(() => {
  lines = [];
  vi.stubEnv('LOG_LEVEL', 'INFO');
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(JSON.parse(String(line)) as Record<string, unknown>);
    return true;
  });
  vi.useFakeTimers({ toFake: ['Date'], now: start });
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
  });

  it('warns of a failure before the deadline', async () => {
    await beginPurge(table, async () => {
      vi.setSystemTime(start + 1_499);
      throw new Error('No answer.');
    });
    expect(entries()).toEqual(['WARN The purge failed and will be retried.']);
    expect(lines[0]).toMatchObject({ error: { message: 'No answer.' } });
  });

  it('only notes that the time was too short for all', async () => {
    await beginPurge(table, async () => {
      vi.setSystemTime(start + 1_500);
      throw new Error('The deadline has passed.');
    });
    expect(entries()).toEqual(['INFO The purge continues in the background.']);
  });
});
