import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fileRunLogs, lineRunLogs, mostBytesPerRun } from '../../gateway/session/run-logs.ts';
import { limitRate } from '../../gateway/wire/limits.ts';
import { untilTestEnds } from '../support/patience.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const run = { domain: 'd1', computation_id: 'c', run_id: 'r', cvm_id: 'cvm-1' };
const line = (level: string, message: string) => ({ level, message, computation_id: '', timestamp: null });

function written(): () => string {
  let output = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += String(text);
    return true;
  });
  return () => output;
}

describe('the log of a run in a file', () => {
  it('is left out while no file can be opened, and ends no gateway', () => {
    const folder = mkdtempSync(join(tmpdir(), 'logs-'));
    writeFileSync(join(folder, 'file'), '');
    const logs = fileRunLogs(join(folder, 'file', 'below'));
    expect([logs.write(run, line('INFO', 'a')), logs.write(run, line('INFO', 'b'))]).toEqual([false, false]);
    rmSync(folder, { recursive: true });
  });

  it('goes on after the disk was full, which is logged once', async () => {
    vi.stubEnv('LOG_LEVEL', 'INFO');
    const output = written();
    const failures = () => output().split('The log of a run cannot be written.').length - 1;
    const folder = mkdtempSync(join(tmpdir(), 'logs-'));
    mkdirSync(join(folder, 'd1'));
    const path = join(folder, 'd1', 'r.log');
    symlinkSync('/dev/full', path);
    const logs = fileRunLogs(folder);
    logs.write(run, line('INFO', 'lost'));
    await vi.waitFor(() => expect(failures()).toBe(1), untilTestEnds);
    logs.write(run, line('INFO', 'lost as well'));
    await logs.close();
    unlinkSync(path);
    const { write, close } = logs;
    write(run, line('INFO', 'kept'));
    await close();
    expect(readFileSync(path, 'utf8')).toMatch(/kept\n$/);
    expect(failures()).toBe(1);
    rmSync(folder, { recursive: true });
  });

  it('ends at 8 MiB with a line that says so, once, also after a restart of the gateway', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'logs-'));
    const long = line('ERROR', 'x'.repeat(10_000));
    for (let starts = 0; starts < 2; starts++) {
      const logs = fileRunLogs(folder);
      for (let count = 0; count < 4_000; count++) logs.write(run, long);
      expect(logs.write(run, line('INFO', 'short'))).toBe(false);
      await logs.close();
    }
    const text = readFileSync(join(folder, 'd1', 'r.log'), 'utf8');
    expect(text.length).toBeLessThanOrEqual(mostBytesPerRun);
    expect(text.match(/The log ends here: it has reached 8 MiB\./g)).toHaveLength(1);
    expect(text).toMatch(/8 MiB\.\n$/);
    rmSync(folder, { recursive: true });
  });
});

describe('a line of the log of a run', () => {
  const hostile = line('INFO\n2026 \u001b[2J', 'a\r\nb\u001b[31mc\u009b1Ad\u2028e\u202ef\n');
  const kept = { level: 'INFO_2026___2J', text: 'a  b [31mc 1Ad e f' };

  it('stays one line without escapes, whatever the CVM sends', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'logs-'));
    const logs = fileRunLogs(folder);
    logs.write(run, hostile);
    await logs.close();
    expect(readFileSync(join(folder, 'd1', 'r.log'), 'utf8')).toBe(` ${kept.level} ${kept.text}\n`);
    rmSync(folder, { recursive: true });
    const output = written();
    lineRunLogs().write(run, hostile);
    expect(JSON.parse(output())).toMatchObject({ level: kept.level, message: kept.text });
  });
});

describe('the log of a run on standard output', () => {
  it('ends at 8 MiB with a line that says so, however long the level is that its CVM names, and when the CVM has come back', () => {
    const output = written();
    const logs = lineRunLogs();
    const long = line('x'.repeat(10_000), '"'.repeat(2_000));
    for (let count = 0; count < 2_500; count++) {
      logs.write(run, long);
      if (count % 100 === 0) logs.end(run.run_id);
    }
    expect(logs.write(run, long)).toBe(false);
    expect(output().length).toBeGreaterThan(mostBytesPerRun / 2);
    expect(output().length).toBeLessThanOrEqual(mostBytesPerRun);
    expect(JSON.parse(output().trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      message: 'The log ends here: it has reached 8 MiB.',
      run_id: 'r',
    });
    expect(logs.write({ ...run, run_id: 'other' }, line('INFO', 'text'))).toBe(true);
  });
});

describe('a stream', () => {
  it('is not read for the rest of a second in which it has sent 4 MiB, in whatever field', () => {
    const stream = { pause: vi.fn(), resume: vi.fn() };
    const count = limitRate(stream);
    const event = { timestamp: null, computation_id: '', details: Buffer.alloc(0), originator: '', status: '' };
    for (let sent = 0; sent < 3; sent++) count({ agent_event: { ...event, event_type: 'x'.repeat(1024 * 1024) } });
    expect(stream.pause).not.toHaveBeenCalled();
    count({ agent_event: { ...event, event_type: 'x'.repeat(1024 * 1024) } });
    expect(stream.pause).toHaveBeenCalledOnce();
  });
});
