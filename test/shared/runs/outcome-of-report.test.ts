import { describe, expect, it } from 'vitest';
import type { Claim } from '../../../shared/runs/claim.ts';
import { outcomeOfReport } from '../../../shared/runs/effects-of-reports.ts';
import type { Report } from '../../../shared/runs/report.ts';

const claim: Claim = {
  domain: 'd1',
  computation_id: 'c',
  run_id: 'run',
  cvm_id: 'cvm-1',
  claimed_at: '2025-07-17T07:59:00.000Z',
  run_command_id: 'run command',
  stop_command_id: 'stop command',
};
const rejected = (command_id: string, reason: string): Report => ({
  id: 'r',
  run_id: 'run',
  type: 'rejected',
  command_id,
  reason,
});
const event = (event_type: string, status: string): Report => ({
  id: 'r',
  run_id: 'run',
  type: 'event',
  event_type,
  status,
  originator: 'agent',
});

describe('outcomeOfReport', () => {
  it.each([
    ['no memory', 'The CVM rejected the run: no memory'],
    ['', 'The CVM rejected the run.'],
  ])('fails a run that the CVM rejected with the reason %j', (given, reason) => {
    expect(outcomeOfReport(rejected('run command', given), claim)).toEqual({ status: 'failed', reason });
  });

  it.each([
    ['busy', 'Stopped; the CVM rejected the stop: busy'],
    ['', 'Stopped; the CVM rejected the stop.'],
  ])('cancels a run, unconfirmed, whose stop the CVM rejected with the reason %j', (given, reason) => {
    const outcome = outcomeOfReport(rejected('stop command', given), claim);
    expect(outcome).toEqual({ status: 'cancelled', reason, is_confirmed: false });
  });

  it('finds no outcome in the rejection of an unknown command', () => {
    expect(outcomeOfReport(rejected('another command', ''), claim)).toBeUndefined();
  });

  it.each([
    ['ConsumingResults', 'Ready', 'completed'],
    ['Complete', 'Completed', 'completed'],
    ['Failed', 'Failed', 'failed'],
    ['Stopped', 'Stopped', 'cancelled'],
  ])('ends a run with %s/%s as %s', (event_type, status, outcome) => {
    expect(outcomeOfReport(event(event_type, status), claim)?.status).toBe(outcome);
  });

  it.each([
    ['Running', 'Failed'],
    ['ConsumingResults', 'Completed'],
    ['Stopped', 'Failed'],
  ])('finds no outcome in %s/%s', (event_type, status) => {
    expect(outcomeOfReport(event(event_type, status), claim)).toBeUndefined();
  });

  it('says whether anybody asked for the stop that the CVM confirms', () => {
    const stopped = event('Stopped', 'Stopped');
    const cancelled = (reason: string) => ({ status: 'cancelled', reason, is_confirmed: true });
    expect(outcomeOfReport(stopped, claim)).toEqual(cancelled('The CVM stopped without a request.'));
    expect(outcomeOfReport(stopped, { ...claim, stop_token: 'token' })).toEqual(cancelled('Stopped; the CVM confirmed it.'));
  });
});
