import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { reportRoute } from '../../../shared/endpoints/cvms.ts';
import { reportSchema } from '../../../shared/cvms/report.ts';

const event = { id: 'r1', run_id: 'run', type: 'event', event_type: 'Running', status: 'InProgress' };
const heartbeat = { type: 'heartbeat' };
const isValid = (report: unknown) => v.is(reportSchema, report);

describe('reportSchema', () => {
  it('takes details of 32 KiB and refuses details of one byte more', () => {
    const withDetails = (bytes: number) => ({ ...event, details: Buffer.alloc(bytes).toString('base64') });
    expect(isValid(withDetails(32 * 1024))).toBe(true);
    expect(isValid(withDetails(32 * 1024 + 1))).toBe(false);
  });

  it('refuses details that are not base64', () => {
    const all = ['', 'YQ==', 'YWI=', 'YWJj', 'YQ', 'YQ=', 'Y Q=', '-_-_', 'ſſſſ', '\u212a\u212a\u212a\u212a'];
    expect(all.filter((details) => isValid({ ...event, details }))).toEqual(['', 'YQ==', 'YWI=', 'YWJj']);
  });

  it.each([event, heartbeat])('takes identifiers of 1 to 128 characters with the type $type', (report) => {
    const ids = ['', 'x', 'x'.repeat(128), 'x'.repeat(129)];
    expect(ids.map((id) => isValid({ ...report, id }))).toEqual([false, true, true, false]);
  });

  it('takes an event with a reason of up to 1,000 characters', () => {
    const reasons = ['', 'x'.repeat(1000), 'x'.repeat(1001)];
    expect(reasons.map((reason) => isValid({ ...event, reason }))).toEqual([true, true, false]);
  });

  it('takes an event with any time of RFC 3339, as it is, and no other text', () => {
    const times = ['2025-07-17T08:00:00Z', '2025-07-17t08:00:00.5z', '2025-07-17 10:00:00+02:00', '2016-12-31T23:59:60Z'];
    for (const occurred_at of times) expect(v.parse(reportSchema, { ...event, occurred_at })).toMatchObject({ occurred_at });
    const others = ['', '2025-07-17', '2025-02-30T08:00:00Z', '2025-07-17T08:00:00+0200', '1752739200', 5];
    expect(others.map((occurred_at) => isValid({ ...event, occurred_at }))).toEqual(others.map(() => false));
  });

  it('takes a heartbeat without id and run_id, and with a known fitness and a state of up to 60 characters', () => {
    expect(isValid(heartbeat)).toBe(true);
    expect(isValid({ ...heartbeat, run_id: 'run', agent_state: 'x'.repeat(60), fit: 'spent' })).toBe(true);
    for (const fields of [{ fit: 'tired' }, { agent_state: '' }, { agent_state: 'x'.repeat(61) }, { command_id: 'c' }]) {
      expect(isValid({ ...heartbeat, ...fields })).toBe(false);
    }
  });
});

describe('the body of endpoint 26', () => {
  const isTaken = (body: unknown) => v.is(reportRoute.body, body);
  const parsed = (...reports: unknown[]) => v.parse(reportRoute.body, { reports }).reports;

  it('has 1 to 50 reports, and nothing else', () => {
    const counts = [0, 1, 50, 51];
    expect(counts.map((count) => isTaken({ reports: Array.from({ length: count }, () => event) }))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    for (const body of [{}, [], { reports: {} }, { reports: 'x' }, { reports: [event], more: 1 }])
      expect(isTaken(body)).toBe(false);
  });

  it('contains an invalid report with its identifier and what was expected, among the others', () => {
    expect(parsed(event, { ...event, id: 'bad', status: undefined })).toEqual([
      { ...event, originator: 'agent' },
      { type: 'invalid', id: 'bad', run_id: event.run_id, detail: '/status: A value is required.' },
    ]);
  });

  it('cuts the identifier of an invalid report to 128 characters', () => {
    const [long] = parsed({ ...event, id: '🐧'.repeat(129) });
    expect(long).toMatchObject({ type: 'invalid', id: '🐧'.repeat(128) });
  });

  it('has no run for an invalid report that names none, or that names it by anything but text', () => {
    const invalid = parsed({ ...event, run_id: 5 }, { ...event, run_id: undefined }, { type: 'event' }, null);
    expect(invalid.map((report) => 'run_id' in report)).toEqual([false, false, false, false]);
  });

  it('has no identifier for an invalid report that has none, or that is no object', () => {
    const invalid = parsed({ ...event, id: 5 }, { type: 'event' }, null, 'x', 7, ['a'], { id: 'x', type: 'sigh' });
    expect(invalid.map((report) => 'detail' in report && [report.id, report.detail])).toEqual([
      [null, '/id: Expected a string of 1 to 128 characters.'],
      [null, '/id: A value is required.'],
      [null, expect.any(String)],
      [null, expect.any(String)],
      [null, expect.any(String)],
      [null, expect.any(String)],
      ['x', '/type: Expected type accepted, rejected, event or heartbeat.'],
    ]);
  });
});
