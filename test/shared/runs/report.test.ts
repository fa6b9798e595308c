import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { reportBatch } from '../../../shared/runs/report.ts';

const event = { id: 'r1', run_id: 'run', type: 'event', event_type: 'Running', status: 'InProgress' };
const isTaken = (reports: unknown[]) => v.safeParse(reportBatch, { reports }).success;

describe('reportBatch', () => {
  it('takes details of 32 KiB and refuses details of one base64 group more', () => {
    const withDetails = (bytes: number) => ({ ...event, details: Buffer.alloc(bytes).toString('base64') });
    expect(isTaken([withDetails(32 * 1024)])).toBe(true);
    expect(isTaken([withDetails(32 * 1024 + 3)])).toBe(false);
  });

  it('takes identifiers of 1 to 128 characters', () => {
    const ids = ['', 'x', 'x'.repeat(128), 'x'.repeat(129)];
    expect(ids.map((id) => isTaken([{ ...event, id }]))).toEqual([false, true, true, false]);
  });

  it('takes 1 to 50 reports', () => {
    const counts = [0, 1, 50, 51];
    expect(counts.map((count) => isTaken(Array.from({ length: count }, () => event)))).toEqual([false, true, true, false]);
  });
});
