import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type GatewayParts, noCounts, defaultTimings } from '../../gateway/session/gateway-parts.ts';
import { openService } from '../../gateway/session/service.ts';
import { AgentProcess } from '../../gateway/session/agent-process.ts';
import { Sessions } from '../../gateway/session/sessions.ts';
import { PendingMessages } from '../../gateway/session/pending-messages.ts';
import type { AgentEvent } from '../../gateway/wire/messages.ts';
import type { AgentRecord } from '../../shared/attestation/agent-record.ts';
import type { Report } from '../../shared/cvms/report.ts';
import { cvmKeys } from '../../shared/table/keys.ts';
import { failReadsOf } from '../support/fail-calls.ts';
import { testTimings } from '../support/gateway-in-process.ts';
import { startGatewayStack } from '../support/gateway-stack.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { systemClock } from '../../shared/runtime/deadline.ts';

const world = sharedByTests(startGatewayStack);

/** Returns the parts that the sessions of a gateway share, with the service of this machine. */
function gatewayParts(): GatewayParts {
  const id = randomUUID();
  return {
    id,
    service: openService(systemClock, id),
    logs: { write: () => true, end: () => undefined, close: () => Promise.resolve() },
    counts: noCounts(),
    timings: { ...defaultTimings, ...testTimings },
    clock: systemClock,
    wallClock: systemClock,
  };
}

const agentProcessOf = (parts: GatewayParts) => new AgentProcess({ domain: 'd1', cvmId: 'c' }, parts, () => undefined);

/** Parts, and the reports that their service takes. */
function reportingParts() {
  const parts = gatewayParts();
  const reported: Report[] = [];
  parts.service.report = (_, reports) => {
    reported.push(...reports);
    return Promise.resolve([]);
  };
  return { parts, reported };
}

/** Waits for the end of the run, and lets the agent's state agree with it. */
async function confirmFailed(agentProcess: AgentProcess): Promise<void> {
  await expect.poll(() => agentProcess.run?.isUnconfirmed).toBe(true);
  agentProcess.run?.confirm('Failed');
}

function eventOf(computation_id: string): AgentEvent {
  const event = { event_type: 'Running', status: 'InProgress', originator: 'agent', timestamp: null, details: Buffer.alloc(0) };
  return { ...event, computation_id };
}

describe('a record that is read while the process is given a run', () => {
  it('is read again if it is older, and the process keeps its run', async () => {
    const parts = gatewayParts();
    const { promise: before, resolve } = Promise.withResolvers<AgentRecord>();
    const given = { run_id: 'r', computation_id: 'c' };
    const answers = [before, Promise.resolve(given)];
    parts.service.agentRecord = () => answers.shift() ?? Promise.reject(new Error('Nothing more is read.'));
    const agentProcess = agentProcessOf(parts);
    const read = agentProcess.readRecord();
    agentProcess.setRecord(given);
    resolve({});
    await read;
    expect(agentProcess.run?.reference.run_id).toBe('r');
  });
});

describe('the event with which runs begin', () => {
  it('belongs to the run of the record as it is then, also if a former run of the computation lacks that event', async () => {
    const { parts, reported } = reportingParts();
    parts.service.agentRecord = () => Promise.resolve({ run_id: 'second', computation_id: 'c' });
    const agentProcess = agentProcessOf(parts);
    agentProcess.setRecord({ run_id: 'first', computation_id: 'c' });
    const pending = new PendingMessages(agentProcess, parts);
    pending.take({ event: { ...eventOf('c'), event_type: 'ReceivingAlgorithm' } });
    pending.take({ event: eventOf('c') });
    await expect.poll(() => reported.map(({ run_id }) => run_id)).toEqual(['second', 'second']);
  });
});

/** The same, but a record is read at most twice a second. */
function slowlyReadParts() {
  const { parts, reported } = reportingParts();
  parts.timings.record = 500;
  return { parts, reported };
}

describe('an event that a CVM repeats without end', () => {
  it('is reported once, and has the record read only now and then', async () => {
    const { parts, reported } = slowlyReadParts();
    let readings = 0;
    parts.service.agentRecord = () => {
      readings++;
      return Promise.resolve({ run_id: 'r', computation_id: 'c' });
    };
    const pending = new PendingMessages(agentProcessOf(parts), parts);
    for (let sent = 0; sent < 1_000; sent++) {
      pending.take({ event: eventOf('c') });
      await nextTurn();
    }
    await expect.poll(() => pending.isEmpty).toBe(true);
    pending.take({ event: { ...eventOf('c'), status: 'Completed' } });
    await expect.poll(() => reported).toHaveLength(2);
    expect(reported).toMatchObject([{ status: 'InProgress' }, { status: 'Completed' }]);
    expect(readings).toBeLessThan(20);
  });

  it('leaves room for one that decides the run, however many come at once', async () => {
    const { parts, reported } = slowlyReadParts();
    parts.service.agentRecord = () => Promise.resolve({ run_id: 'r', computation_id: 'c' });
    const agentProcess = agentProcessOf(parts);
    const pending = new PendingMessages(agentProcess, parts);
    for (let sent = 0; sent < 1_500; sent++) pending.take({ event: eventOf('c') });
    pending.take({ event: { ...eventOf('c'), event_type: 'Failed', status: 'Failed' } });
    await confirmFailed(agentProcess);
    await expect.poll(() => reported).toHaveLength(2);
    expect([reported, parts.counts.eventsRefused]).toMatchObject([[{ status: 'InProgress' }, { status: 'Failed' }], 0]);
  });
});

describe('messages of a CVM whose record cannot be read', () => {
  it('wait for one reading after another, which come less and less often', async () => {
    const parts = gatewayParts();
    const readings: number[] = [];
    parts.service.agentRecord = () => {
      readings.push(performance.now());
      return Promise.reject(new Error('The table is broken.'));
    };
    const pending = new PendingMessages(agentProcessOf(parts), parts);
    for (let sent = 0; sent < 10; sent++) pending.take({ event: eventOf('c') });
    expect(readings).toHaveLength(1);
    await expect.poll(() => readings.length).toBeGreaterThan(1);
    for (let sent = 0; sent < 10; sent++) pending.take({ event: eventOf('c') });
    await expect.poll(() => readings.length).toBeGreaterThan(5);
    const { firstRetry, longestRetry } = parts.timings;
    // The pauses double. Each is shortened by up to a half, at random.
    const shortest = [1, 2, 4, 8, 16].reduce((sum, factor) => sum + Math.min(longestRetry, firstRetry * factor) / 2, 0);
    expect((readings[5] ?? 0) - (readings[0] ?? 0)).toBeGreaterThan(shortest - 10);
    expect(pending.isEmpty).toBe(false);
  });

  it.each(['DEBUG', 'WARN'])(
    'are left out where they are too many lines of %s, but never the end of the run and its cause',
    async (level) => {
      const { parts, reported } = reportingParts();
      let isBroken = true;
      parts.service.agentRecord = () =>
        isBroken ? Promise.reject(new Error('The table is broken.')) : Promise.resolve({ run_id: 'r', computation_id: 'c' });
      const agentProcess = agentProcessOf(parts);
      const pending = new PendingMessages(agentProcess, parts);
      const lineOf = (text: string, message: string) => ({ level: text, message, computation_id: 'c', timestamp: null });
      pending.take({ event: eventOf('c') });
      for (let sent = 0; sent < 2_000; sent++) pending.take({ line: lineOf(level, 'working') });
      pending.take({ line: lineOf('WARN', 'failed to run computation: algorithm execution error: exit status 3') });
      pending.take({ event: { ...eventOf('c'), event_type: 'Failed', status: 'Failed' } });
      isBroken = false;
      await confirmFailed(agentProcess);
      await expect.poll(() => reported).toHaveLength(2);
      expect(reported).toMatchObject([
        { event_type: 'Running', status: 'InProgress' },
        { event_type: 'Failed', reason: 'The algorithm ended with the exit code 3.' },
      ]);
      expect(parts.counts).toMatchObject({ logLinesDropped: 1_003, eventsRefused: 0 });
    },
  );

  it('keep the CVM in memory after its streams have ended, until they have found their run', async () => {
    const { agent, computationId } = await world.startRunOn('gone-1', { hasForwarder: false });
    const reads = failReadsOf(cvmKeys.agent('d1', 'gone-1'));
    const sessions = new Sessions(gatewayParts(), undefined);
    sessions.of({ domain: 'd1', cvmId: 'gone-1' }).takeEvent(eventOf(computationId));
    await expect.poll(() => reads.failures).toBeGreaterThan(1);
    sessions.tick();
    expect(sessions.all).toHaveLength(1);
    reads.isBroken = false;
    await expect.poll(() => world.journal(computationId)).toContain('Running/InProgress');
    const left = () => {
      sessions.tick();
      return sessions.all.length;
    };
    await expect.poll(left).toBe(0);
    agent.end();
  });
});
