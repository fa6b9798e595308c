import { afterEach, describe, expect, it, vi } from 'vitest';
import { isOfQuestion } from '../../gateway/session/run-logs.ts';
import { type GatewayParts, noCounts, defaultTimings } from '../../gateway/session/gateway-parts.ts';
import { identityIn, identityUri } from '../../gateway/wire/identity.ts';
import { eventId } from '../../gateway/wire/agent-events.ts';
import { Outbox } from '../../gateway/session/outbox.ts';
import { HostedRun } from '../../gateway/session/hosted-run.ts';
import type { AgentLog, AgentState } from '../../gateway/wire/messages.ts';
import type { LastingReport } from '../../shared/cvms/report.ts';
import type { Manifest } from '../../shared/rows/manifest.ts';
import type { RunReference } from '../../shared/rows/run.ts';
import { untilTestEnds } from '../support/patience.ts';
import { systemClock } from '../../shared/runtime/deadline.ts';

const event = (id: string, details = ''): LastingReport => ({
  type: 'event',
  id,
  run_id: 'run',
  event_type: 'AlgorithmRun',
  status: 'Warning',
  originator: 'agent',
  details,
});

/** An outbox, what its service has taken, and how many reports were dropped. @param refuse throws if the service takes no report now */
function anOutbox({
  refuse = () => Promise.resolve(),
  onTaken = () => undefined,
}: { refuse?: (ids: string[]) => Promise<void>; onTaken?: () => void } = {}) {
  const sent: string[] = [];
  let dropped = 0;
  const outbox = new Outbox({
    send: async (reports) => {
      const ids = reports.map(({ id }) => id);
      await refuse(ids);
      sent.push(...ids);
      return [];
    },
    onTaken,
    onDropped: () => dropped++,
    logFields: { run_id: 'run' },
    now: () => Date.now(),
    timings: { firstRetry: 1, longestRetry: 2 },
  });
  return { outbox, sent, dropped: () => dropped };
}

/** Returns an outbox whose service takes reports after these failures. */
const failingOutbox = (failures: Error[]) =>
  anOutbox({
    refuse: async () => {
      const failure = failures.pop();
      if (failure) throw failure;
    },
  });

/** Returns an outbox whose service takes nothing until it is told to. */
function heldOutbox() {
  const opened = Promise.withResolvers<undefined>();
  let failures = 0;
  const held = anOutbox({
    refuse: async () => {
      await opened.promise;
      if (failures-- > 0) throw new Error('The service is busy.');
    },
  });
  const open = (failing = 0) => {
    failures = failing;
    opened.resolve(undefined);
  };
  return { ...held, open };
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** Returns the lines that are logged from now on, as they come. */
function logLines(): object[] {
  const lines: object[] = [];
  vi.stubEnv('LOG_LEVEL', 'INFO');
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(JSON.parse(String(line)) as object) > 0);
  return lines;
}

describe('the outbox', () => {
  it('keeps the order, and repeats what the service does not take', async () => {
    const { outbox, sent, open } = heldOutbox();
    const ids = Array.from({ length: 100 }, (_, index) => `event-${index}`);
    for (const id of ids) outbox.add(event(id));
    open(3);
    await vi.waitFor(() => expect(sent).toEqual(ids), untilTestEnds);
    expect(outbox.isEmpty).toBe(true);
  });

  it('holds 1,000 reports, leaves out the oldest warnings, and never what decides the run', async () => {
    const { outbox, sent, dropped, open } = heldOutbox();
    outbox.add(event('state:Running/InProgress'));
    for (let index = 0; index < 1_500; index++) outbox.add(event(`warning-${index}`), { isOptional: true });
    outbox.add(event('state:Failed/Failed'));
    expect(dropped()).toBe(502);
    open();
    await vi.waitFor(() => expect(outbox.isEmpty).toBe(true), untilTestEnds);
    expect(sent).toHaveLength(1_000);
    expect([sent[0], sent.at(-1)]).toEqual(['state:Running/InProgress', 'state:Failed/Failed']);
  });

  it('leaves out no warning that is being sent, but the oldest of those that wait', async () => {
    const opened = Promise.withResolvers<undefined>();
    const taken: string[] = [];
    const left: string[] = [];
    const outbox = new Outbox({
      send: async (reports) => {
        await opened.promise;
        taken.push(...reports.map(({ id }) => id));
        return [];
      },
      onTaken: () => undefined,
      onDropped: ({ id }) => left.push(id),
      now: () => 0,
      timings: { firstRetry: 1, longestRetry: 2 },
    });
    const ids = Array.from({ length: 1_003 }, (_, index) => `warning-${index}`);
    for (const id of ids) outbox.add(event(id), { isOptional: true });
    opened.resolve(undefined);
    await vi.waitFor(() => expect(outbox.isEmpty).toBe(true), untilTestEnds);
    expect(left).toEqual(ids.slice(1, 4)); // the first report went alone, at once
    expect(taken).toEqual(ids.filter((id) => !left.includes(id)));
  });

  it('holds 8 MiB', () => {
    const { outbox, dropped } = heldOutbox();
    for (let index = 0; index < 200; index++) outbox.add(event(`large-${index}`, 'x'.repeat(64 * 1024)), { isOptional: true });
    expect(dropped()).toBeGreaterThanOrEqual(70);
  });

  it('sends a report that comes in the moment in which it has become empty', async () => {
    const { outbox, sent }: ReturnType<typeof anOutbox> = anOutbox({
      onTaken: () => {
        if (sent.length === 1) queueMicrotask(() => outbox.add(event('second')));
      },
    });
    outbox.add(event('first'));
    await vi.waitFor(() => expect(sent).toEqual(['first', 'second']), untilTestEnds);
  });

  it('leaves out the one report that the service can never take, after five attempts, and sends those behind it', async () => {
    let attempts = 0;
    const { outbox, sent, dropped } = anOutbox({
      refuse: async (ids) => {
        if (ids.join() === 'broken') attempts++;
        if (ids.includes('broken')) throw Object.assign(new Error('Too long.'), { name: 'ValidationException' });
      },
    });
    for (const id of ['first', 'broken', 'second', 'third']) outbox.add(event(id));
    await vi.waitFor(() => expect(sent).toEqual(['first', 'second', 'third']), untilTestEnds);
    expect([attempts, dropped()]).toEqual([5, 1]);
  });

  it('keeps every report while its credentials are refused or the service is busy', async () => {
    const names = ['ExpiredTokenException', 'ThrottlingException', 'InternalServerError', 'TimeoutError'];
    const failures = names.flatMap((name) => Array.from({ length: 6 }, () => Object.assign(new Error(name), { name })));
    const { outbox, sent, dropped } = failingOutbox(failures);
    outbox.add(event('only'));
    await vi.waitFor(() => expect(sent).toEqual(['only']), untilTestEnds);
    expect(dropped()).toBe(0);
  });

  it('warns once that it cannot send, with the run and the error, until the service takes reports again', async () => {
    const lines = logLines();
    const refused = () => Object.assign(new Error('Not allowed.'), { name: 'AccessDeniedException' });
    const failures = [refused(), refused(), refused()];
    const { outbox, sent } = failingOutbox(failures);
    const warning = {
      level: 'WARN',
      message: 'The reports of a run cannot be sent now.',
      run_id: 'run',
      error: { name: 'AccessDeniedException' },
    };
    outbox.add(event('first'));
    await vi.waitFor(() => expect(sent).toEqual(['first']), untilTestEnds);
    expect(lines).toMatchObject([warning]);
    failures.push(refused());
    outbox.add(event('second'));
    await vi.waitFor(() => expect(sent).toEqual(['first', 'second']), untilTestEnds);
    expect(lines).toMatchObject([warning, warning]);
  });

  it('takes a report once while it waits', () => {
    const { outbox, dropped } = heldOutbox();
    for (let index = 0; index < 3_000; index++) outbox.add(event('the same'), { isOptional: true });
    expect(dropped()).toBe(0);
  });
});

describe('a run at a gateway', () => {
  const reference = { domain: 'd1', computation_id: 'c', run_id: 'run', cvm_id: 'cvm-1' };

  /** A run whose reports the service takes, but for these failures. */
  function hosted(failures: Error[] = []) {
    const ids: string[] = [];
    const reasons: unknown[] = [];
    const counts = noCounts();
    const report = (_: unknown, reports: LastingReport[]) => {
      const failure = failures.pop();
      if (failure) return Promise.reject(failure);
      ids.push(...reports.map(({ id }) => id));
      reasons.push(...reports.flatMap((each) => ('reason' in each ? [each.reason] : [])));
      return Promise.resolve([]);
    };
    const clock = { ...systemClock };
    const lines: string[] = [];
    const logs = { write: (_: RunReference, { message }: AgentLog) => lines.push(message) > 0 };
    const readManifest = vi.fn<() => Promise<Manifest>>();
    const parts = {
      service: { report, manifestBefore: readManifest },
      counts,
      clock,
      wallClock: systemClock,
      timings: { ...defaultTimings, firstRetry: 1, longestRetry: 2 },
      logs,
    } as unknown as GatewayParts;
    return { run: new HostedRun(reference, parts, () => undefined), ids, reasons, lines, counts, clock, readManifest };
  }

  it('has an event inferred again whose report was left out, because the code failed on it five times', async () => {
    const { run, ids, counts } = hosted(Array.from({ length: 5 }, () => new TypeError('A defect.')));
    run.observe('Failed', 0);
    await vi.waitFor(() => expect(counts.reportsDropped).toBe(1), untilTestEnds);
    expect(ids).toEqual([]);
    run.observe('Failed', 0);
    await vi.waitFor(() => expect(ids).toHaveLength(1), untilTestEnds);
  });

  it('has up to 10,000 warnings, and its end after them', async () => {
    const { run, ids, counts } = hosted();
    const warning = {
      event_type: 'AlgorithmRun',
      status: 'Warning',
      computation_id: '',
      details: Buffer.alloc(0),
      originator: 'agent',
    };
    for (let nanos = 0; nanos < 10_001; nanos++) {
      run.takeEvent({ ...warning, timestamp: { seconds: '1', nanos } });
      if (nanos % 500 === 0) await vi.waitFor(() => expect(run.outbox.isEmpty).toBe(true), untilTestEnds);
    }
    const end = { ...warning, event_type: 'Failed', status: 'Failed', timestamp: null };
    run.takeEvent(end);
    run.confirm('Failed');
    await vi.waitFor(() => expect(ids.at(-1)).toBe(eventId(end)), untilTestEnds);
    expect(ids).toHaveLength(10_001);
    expect(counts.reportsDropped).toBe(1);
  });

  it('fails for the cause that its agent tells, also if the log arrives 12 seconds after the state', async () => {
    const { run, reasons, clock } = hosted();
    clock.now = () => 0;
    run.observe('Failed', defaultTimings.lateEvent);
    clock.now = () => 12_000;
    run.observe('Failed', defaultTimings.lateEvent);
    const ofRun = { computation_id: 'c', timestamp: null, details: Buffer.alloc(0), originator: 'agent' };
    run.takeEvent({ ...ofRun, event_type: 'Running', status: 'InProgress' });
    run.takeLog({ ...ofRun, level: 'WARN', message: 'failed to run computation: algorithm execution error: exit status 3' });
    run.takeEvent({ ...ofRun, event_type: 'Failed', status: 'Failed' });
    run.confirm('Failed');
    await vi.waitFor(() => expect(reasons).toEqual(['The algorithm ended with the exit code 3.']), untilTestEnds);
  });

  it('is not reported as failed before its manifest is read, which tells why, and is not left out meanwhile', async () => {
    const { run, reasons, ids, readManifest } = hosted();
    const manifests = Array.from({ length: 2 }, () => Promise.withResolvers<Manifest>());
    for (const { promise } of manifests) readManifest.mockReturnValueOnce(promise);
    const [approved, found] = ['ab'.repeat(32), 'cd'.repeat(32)];
    const message = `algorithm hash mismatch: expected ${approved}, got ${found}`;
    run.takeLog({ computation_id: 'c', timestamp: null, level: 'ERROR', message });
    run.observe('Failed', 0);
    manifests[0]?.reject(new Error('The table does not answer.'));
    await vi.waitFor(() => expect(readManifest).toHaveBeenCalledTimes(2), untilTestEnds);
    expect([run.isReported, run.holdsLasting, ids]).toEqual([false, true, []]);
    const source = { type: 'https', url: 'https://files.example.com/a' };
    const algorithm = { hash: Array.from({ length: 32 }, () => 0xab), user_key: 'AAAA', source };
    manifests[1]?.resolve({ id: 'c', name: '', description: '', algorithm, datasets: [], result_consumers: [] });
    const reason = `The agent fetched the algorithm with the hash ${found}, but ${approved} was approved.`;
    await vi.waitFor(() => expect(reasons).toEqual([reason]), untilTestEnds);
    await vi.waitFor(() => expect(run.isReported).toBe(true), untilTestEnds);
  });

  it('fails once its agent has fetched files for an hour, unless a user sends one of them', async () => {
    const { run, reasons, clock, readManifest } = hosted();
    let now = 0;
    clock.now = () => now;
    const key = { hash: Array.from({ length: 32 }, () => 0xab), user_key: 'AAAA' };
    const [sent, fetched] = [key, { ...key, source: { url: 'https://files.example.com/a' } }];
    const dataset = { ...fetched, filename: 'a.csv' };
    const of = { id: 'c', name: '', description: '', result_consumers: [] };
    readManifest.mockResolvedValueOnce({ ...of, algorithm: sent, datasets: [dataset] });
    readManifest.mockResolvedValue({ ...of, algorithm: fetched, datasets: [dataset] });
    const after = async (minutes: number, state: AgentState) => {
      now += minutes * 60_000;
      await run.endIfStuck(state);
    };
    await after(0, 'ReceivingAlgorithm');
    await after(60, 'ReceivingAlgorithm'); // waits for the algorithm, which is sent
    await after(0, 'ReceivingData');
    await after(59, 'ReceivingData');
    expect([reasons, readManifest.mock.calls.length]).toEqual([[], 1]);
    await after(1, 'ReceivingData');
    await vi.waitFor(() => expect(reasons).toEqual(['The agent did not fetch the data in 60 minutes.']), untilTestEnds);
  });

  it('has no line in its log for each question of the gateway for the state of the agent', () => {
    const ofQuestion = 'Method State took 12.345µs to complete with state Running';
    const others = ['Method Result took 1.5s to complete with error: no results', `${ofQuestion}, prints an algorithm`];
    const isLeftOut = (message: string) => isOfQuestion({ level: 'DEBUG', message, computation_id: '', timestamp: null });
    expect([ofQuestion, ...others].map(isLeftOut)).toEqual([true, false, false]);
  });

  it('has up to six attestations in its journal, each once, after the agent has taken it, and the log names it once', async () => {
    const lines = logLines();
    const { run, ids, counts } = hosted();
    for (const digit of '112') run.attest(digit.repeat(64));
    expect(run.outbox.isEmpty).toBe(true);
    run.noteAccepted();
    for (const digit of '2345678') run.attest(digit.repeat(64));
    await vi.waitFor(() => expect(run.outbox.isEmpty).toBe(true), untilTestEnds);
    expect(ids).toEqual(Array.from('123456').map((digit) => `attestation:${digit.repeat(64)}`));
    expect(counts.reportsDropped).toBe(2);
    const reason = 'The agent has sent more than 6 attestations.';
    const { domain, cvm_id, run_id } = reference;
    expect(lines).toMatchObject([{ level: 'WARN', message: 'A report of a run was dropped.', domain, cvm_id, run_id, reason }]);
  });
});

describe('the identifier of an event', () => {
  const at = (nanos: number) => ({ seconds: '1', nanos });
  const agentEvent = { computation_id: '', details: Buffer.alloc(0), originator: 'agent' };

  it('depends on the time only for events that may occur again', () => {
    const running = { ...agentEvent, event_type: 'Running', status: 'InProgress' };
    const warning = { ...agentEvent, event_type: 'AlgorithmRun', status: 'Warning' };
    expect(eventId({ ...running, timestamp: at(1) })).toBe(eventId({ ...running, timestamp: at(2) }));
    expect(eventId({ ...warning, timestamp: at(1) })).not.toBe(eventId({ ...warning, timestamp: at(2) }));
    expect(eventId({ ...warning, timestamp: at(1) })).toBe(eventId({ ...warning, timestamp: at(1) }));
  });
});

describe('the identity in a certificate', () => {
  it('is the one CVM that its alternative names contain', () => {
    const cvm = { domain: 'd1', cvmId: 'vm:1.a' };
    expect(identityIn(`DNS:localhost, URI:${identityUri(cvm)}`)).toEqual(cvm);
  });

  it.each([
    undefined,
    '',
    'DNS:urn:cvm:d1:vm-1',
    'URI:urn:cvm:d1:vm-1, URI:urn:cvm:d1:vm-2',
    'URI:urn:cvm:d1:vm 1',
    'URI:"urn:cvm:d1:x"',
    'DNS:"a, URI:urn:cvm:d1:vm-1, b"',
    'URI:urn:cvm:d1:vm-1, DNS:"a, b"',
  ])('is missing in %j', (names) => {
    expect(identityIn(names)).toBeUndefined();
  });
});
