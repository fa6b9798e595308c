import { describe, expect, it } from 'vitest';
import type { Claim } from '../../../shared/rows/claim.ts';
import { answeredCommands, claimChangeOf, reportedStateOf } from '../../../shared/cvms/effects-of-reports.ts';
import type { Report } from '../../../shared/cvms/report.ts';

const now = '2025-07-17T08:00:00.000Z';
const claim: Claim = {
  domain: 'd1',
  computation_id: 'c',
  run_id: 'run',
  cvm_id: 'cvm-1',
  claimed_at: '2025-07-17T07:59:00.000Z',
  run_command_id: 'run command',
  stop_command_id: 'stop command',
  has_server_key: false,
  has_asset_keys: false,
};
const base = { id: 'r', run_id: 'run' };
const accepted = (command_id: string): Report => ({ ...base, type: 'accepted', command_id, reason: '' });
const rejected = (command_id: string): Report => ({ ...base, type: 'rejected', command_id, reason: 'no memory' });
const event = (event_type: string, status: string): Report => ({
  ...base,
  type: 'event',
  event_type,
  status,
  originator: 'agent',
});
const heartbeat: Report = { ...base, type: 'heartbeat' };
const withReason = (reason: string): Report => ({ ...event('Failed', 'Failed'), reason }) as Report;

describe('claimChangeOf', () => {
  it.each([
    ['an event', event('Running', 'InProgress')],
    ['the acceptance of the run command', accepted('run command')],
  ])('marks the run as accepted by %s, even beside a heartbeat', (_what, report) => {
    for (const reports of [[report], [heartbeat, report]]) {
      expect(claimChangeOf(reports, claim, now)).toEqual({ set: { accepted_at: now }, unless: [] });
    }
  });

  it.each([
    ['a heartbeat', heartbeat],
    ['the acceptance of the stop command', accepted('stop command')],
    ['the acceptance of a command that nobody issued', accepted('another command')],
    ['the rejection of a command that nobody issued', rejected('another command')],
  ])('changes nothing by %s', (_what, report) => {
    expect(claimChangeOf([report], claim, now)).toBeUndefined();
  });

  it('keeps the time at which the run was accepted first', () => {
    expect(claimChangeOf([event('Running', 'InProgress')], { ...claim, accepted_at: now }, now)).toBeUndefined();
  });

  it('sets the first outcome, only while there is none', () => {
    const reports = [heartbeat, rejected('run command'), event('Complete', 'Completed')];
    expect(claimChangeOf(reports, { ...claim, accepted_at: now }, now)).toEqual({
      set: { outcome: { status: 'failed', reason: 'The CVM rejected the run: no memory' } },
      unless: ['outcome'],
    });
  });

  it('keeps an outcome that was read', () => {
    const ended: Claim = { ...claim, accepted_at: now, outcome: { status: 'failed', reason: 'The CVM failed.' } };
    expect(claimChangeOf([event('Complete', 'Completed')], ended, now)).toBeUndefined();
  });
});

describe('the reason of an event that ends the run', () => {
  it.each([
    ['exit status 3', 'exit status 3'],
    ['', 'The CVM failed.'],
  ])('is the one that the CVM gives, %j, or the one of the service', (given, reason) => {
    expect(claimChangeOf([withReason(given)], claim, now)?.set.outcome).toEqual({ status: 'failed', reason });
  });

  it.each([
    ['Running', 'Failed'],
    ['ConsumingResults', 'Completed'],
    ['Stopped', 'Failed'],
  ])('is ignored if the event ends nothing, such as %s/%s', (event_type, status) => {
    const change = claimChangeOf([{ ...event(event_type, status), reason: 'x' } as Report], claim, now);
    expect(change).toEqual({ set: { accepted_at: now }, unless: [] });
  });
});

describe('reportedStateOf', () => {
  it('returns the last state and the last fitness of the heartbeats', () => {
    const said: Report[] = [
      { type: 'heartbeat', agent_state: 'Running', fit: 'busy' },
      { type: 'heartbeat', fit: 'spent' },
      { type: 'heartbeat', agent_state: 'Complete' },
      { type: 'heartbeat' },
    ];
    expect(reportedStateOf(said)).toEqual({ agent_state: 'Complete', fit: 'spent' });
    expect(reportedStateOf([event('Running', 'InProgress')])).toEqual({});
  });
});

describe('answeredCommands', () => {
  it.each([
    ['an event', event('Running', 'InProgress'), ['run']],
    ['the acceptance of the run command', accepted('run command'), ['run']],
    ['the rejection of the run command', rejected('run command'), ['run']],
    ['the acceptance of the stop command', accepted('stop command'), ['stop']],
    ['a heartbeat', heartbeat, []],
    ['the acceptance of a command that nobody issued', accepted('another command'), []],
  ])('names the commands that %s answers', (_what, report, answered) => {
    expect(answeredCommands([heartbeat, report], claim)).toEqual(answered);
  });
});
