import { expect, vi } from 'vitest';
import type { Stack } from '../../local/stack.ts';
import { callAs, readyComputation, type Call } from './ready-computation.ts';
import { untilTestEnds } from './patience.ts';

export interface Command {
  id: string;
  type: 'run' | 'stop';
  run_id: string;
}

export interface Report {
  id: string;
  run_id: string;
  type: 'accepted' | 'rejected' | 'event' | 'heartbeat';
  [field: string]: unknown;
}

/** A new domain, a user with every permission in it, and its CVMs. */
export interface Scenario {
  domain: string;
  call: Call;
  /** Creates a computation that is ready to run. */
  computation: () => Promise<string>;
  /** Starts a run and returns its identifier. */
  start: (computationId: string, cvm?: string) => Promise<string>;
  stop: (computationId: string) => ReturnType<Call>;
  commands: (cvm?: string) => Promise<Command[]>;
  /** Waits for a command of this type and returns it. */
  command: (type: 'run' | 'stop', cvm?: string) => Promise<Command>;
  report: (reports: Report[], cvm?: string) => ReturnType<Call>;
  /** Waits for the run's command and accepts it. */
  accept: (cvm?: string) => Promise<Command>;
  statusOf: (computationId: string) => Promise<unknown>;
  runOf: (computationId: string) => Promise<Record<string, unknown>>;
  /** Returns the events of a run, oldest first, as `event_type/status`. */
  eventsOf: (computationId: string, runId: string) => Promise<string[]>;
  statistics: () => Promise<Record<string, number>>;
}

export const cvm1 = 'cvm-1';

let scenarios = 0;
let reports = 0;

/** Builds an event of the agent. */
export function agentEvent(run_id: string, event_type: string, status: string): Report {
  return { id: reportId(), run_id, type: 'event', event_type, status };
}

export function reportId(): string {
  return `report-${++reports}`;
}

export async function openScenario(stack: Stack): Promise<Scenario> {
  const domain = `scenario-${++scenarios}`;
  const call = callAs(stack.baseUrl, await stack.token('alice', [`${domain}:administrator`, `${domain}:cvm`]));
  const of = (computationId: string) => `/${domain}/computations/${computationId}`;
  const commands = async (cvm = cvm1) => {
    const { body } = await call('GET', `/${domain}/cvms/${cvm}/commands`);
    return body['commands'] as Command[];
  };
  const command = (type: 'run' | 'stop', cvm = cvm1) =>
    vi.waitFor(async () => {
      const found = (await commands(cvm)).find((each) => each.type === type);
      if (!found) throw new Error(`There is no ${type} command for ${cvm}.`);
      return found;
    }, untilTestEnds);
  const report = (given: Report[], cvm = cvm1) => call('POST', `/${domain}/cvms/${cvm}/reports`, { reports: given });
  return {
    domain,
    call,
    computation: () => readyComputation(call, domain),
    start: async (computationId, cvm = cvm1) => {
      const answer = await call('POST', `${of(computationId)}/run?cvm=${cvm}`);
      expect(answer).toMatchObject({ status: 200 });
      return answer.body as unknown as string;
    },
    stop: (computationId) => call('POST', `${of(computationId)}/stop`),
    commands,
    command,
    report,
    accept: async (cvm = cvm1) => {
      const found = await command('run', cvm);
      await report([{ id: reportId(), run_id: found.run_id, type: 'accepted', command_id: found.id }], cvm);
      return found;
    },
    statusOf: async (computationId) => (await call('GET', `${of(computationId)}?peek=true`)).body['status'],
    runOf: async (computationId) => (await call('GET', `${of(computationId)}/run`)).body,
    eventsOf: async (computationId, runId) => {
      const { body } = await call('GET', `${of(computationId)}/events?run_id=${runId}&limit=100`);
      const events = body['events'] as Record<string, string>[];
      return events.map((event) => `${event['event_type']}/${event['status']}`).reverse();
    },
    statistics: async () => {
      const { body } = await call('GET', `/${domain}/computations/statistics`);
      const entries = body['comp_stats'] as { status: string; count: number }[];
      const counts: Record<string, number> = {};
      for (const { status, count } of entries) counts[status] = (counts[status] ?? 0) + count;
      return counts;
    },
  };
}
