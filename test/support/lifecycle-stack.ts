import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { SFNClient } from '@aws-sdk/client-sfn';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { expect, vi } from 'vitest';
import { localCredentials } from '../../local/machine/environment.ts';
import { listen, type Listening } from '../../local/machine/listen.ts';
import { type Stack, startStack } from '../../local/stack.ts';
import { type Executions, executionStatus } from '../../shared/lifecycle/executions.ts';
import type { RunTimes } from '../../shared/runtime/environment.ts';
import { endingOf, waysToEnd, type WayToEnd } from '../../shared/rows/run.ts';
import { cvmKeys } from '../../shared/table/keys.ts';
import { type Table, getItem } from '../../shared/table/table.ts';
import { type DynamoDbProxy, startDynamoDbProxy } from './dynamodb-proxy.ts';
import { documentAt, patientDeadline } from './embedded-table.ts';
import { testClock } from './test-clock.ts';
import { untilTestEnds } from './patience.ts';
import { post } from './post.ts';
import { type Call, callAs, readyComputation } from './ready-computation.ts';
import { repeating } from './repeating-call.ts';
import { watchFunctions } from './recorded-calls.ts';
import { serveInProcess } from './simulated-step-functions.ts';
import { timestampOf } from '../../shared/runtime/deadline.ts';

/** The whole service with a clock that tests move, and with proxies in front of its table and its state machine. */
export interface LifecycleStack {
  stack: Stack;
  /** The table directly on the engine, for reads and for writes that no fault should affect. */
  table: Table;
  /** The table through the proxy, with a client that retries until the test ends. */
  disturbedTable: Table;
  tableProxy: DynamoDbProxy;
  /** The state machine without the proxy. */
  executions: Executions;
  executionsProxy: StepFunctionsProxy;
  /** The service's time in RFC 3339: UTC, with milliseconds. */
  now: () => string;
  /** Waits until no function runs, so that none reaches its timeout, and moves the time. Not for tests in parallel. */
  lapse: (seconds: number) => Promise<void>;
  stop: () => Promise<void>;
}

/** Time limits that no run exceeds during a test. */
export const runTimes: RunTimes = { acceptInSeconds: 600, silenceInSeconds: 2_400, runInSeconds: 3_600, stopInSeconds: 600 };

const place = { region: 'local', credentials: localCredentials };

/**
 * Starts the service without simulated CVMs: the test acts as the CVM. Scheduled functions run only when the test invokes them.
 * Only one at a time in a process, as for startStack.
 */
export async function startLifecycleStack(): Promise<LifecycleStack> {
  const clock = testClock();
  const functions = watchFunctions();
  const proxied = Promise.withResolvers<{ tableProxy: DynamoDbProxy; executionsProxy: StepFunctionsProxy; served: Listening }>();
  const stack = await startStack({
    port: 0,
    simulator: false,
    times: runTimes,
    load: functions.load,
    clock,
    schedules: false,
    intercept: async (endpoints, parts) => {
      const served = await serveInProcess(parts.stepFunctions);
      const tableProxy = await startDynamoDbProxy(endpoints.dynamoDb, { latencyInMilliseconds: 0 });
      const executionsProxy = await startStepFunctionsProxy(served.endpoint);
      proxied.resolve({ tableProxy, executionsProxy, served });
      return { ...endpoints, dynamoDb: tableProxy.endpoint, stepFunctions: executionsProxy.endpoint };
    },
  });
  const { tableProxy, executionsProxy, served } = await proxied.promise;
  const table = openTable(stack.tableName, documentAt(stack.endpoints.dynamoDb));
  const retryStrategy = new ConfiguredRetryStrategy(20, () => Math.random() * 100);
  const disturbedTable = openTable(stack.tableName, documentAt(tableProxy.endpoint, { retryStrategy }));
  const stepFunctions = new SFNClient({ ...place, endpoint: served.endpoint });
  return {
    stack,
    table,
    disturbedTable,
    tableProxy,
    executions: { client: stepFunctions, stateMachineArn: stack.stateMachineArn },
    executionsProxy,
    now: () => timestampOf(clock),
    lapse: async (seconds) => {
      await functions.untilIdle();
      clock.move(seconds * 1_000);
    },
    stop: async () => {
      await executionsProxy.stop();
      await served.stop();
      await stack.stop();
      table.document.destroy();
      disturbedTable.document.destroy();
      stepFunctions.destroy();
      await tableProxy.stop();
    },
  };
}

function openTable(name: string, document: DynamoDBDocumentClient): Table {
  return { name, document, deadline: patientDeadline };
}

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
      const answer = await repeating(call)('POST', `${of(computationId)}/run?cvm=${cvm}`);
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

interface Ending {
  computation: string;
  run: string;
  status: 'completed' | 'failed' | 'cancelled';
  /** A part of the reason that users see. */
  reason?: string;
  cvm?: string;
  /** The number of runs of this domain that have ended with this status. Default 1. */
  times?: number;
}

/**
 * Expects that the run ends with this status exactly once: it has one final event, which is counted once, and no claim, command
 * or execution is left. Its CVM and its computation are free, which another completed run proves.
 */
export async function expectEndedOnce(lifecycle: LifecycleStack, scenario: Scenario, ending: Ending): Promise<void> {
  const { computation, run, status, reason, cvm = cvm1, times = 1 } = ending;
  await vi.waitFor(async () => expect(await scenario.statusOf(computation)).toBe(status), untilTestEnds);
  await expectNothingLeft(lifecycle, scenario, run, cvm);

  const ended = await scenario.runOf(computation);
  expect(ended).toMatchObject({ id: run, status, reason: expect.stringContaining(reason ?? '') as string });
  expect(isInTable(status, String(ended['reason']))).toBe(true);
  expect(Date.parse(String(ended['ended_at']))).toBeGreaterThanOrEqual(Date.parse(String(ended['started_at'])));
  const finals = (await scenario.eventsOf(computation, run)).filter((event) => /^(?:completed|failed|cancelled)\//.test(event));
  expect(finals).toEqual([`${status}/${status === 'failed' ? 'failure' : 'success'}`]);
  expect((await scenario.statistics())[status]).toBe(times);

  const next = await scenario.start(computation, cvm);
  await scenario.accept(cvm);
  await scenario.report([agentEvent(next, 'Complete', 'Completed')], cvm);
  await vi.waitFor(
    async () => expect(await scenario.runOf(computation)).toMatchObject({ id: next, status: 'completed' }),
    untilTestEnds,
  );
  await expectNothingLeft(lifecycle, scenario, next, cvm);
}

/** Says whether a way of the table ends with this status and reason. */
function isInTable(status: string, reason: string): boolean {
  const ways: WayToEnd[] = Object.values(waysToEnd).flatMap((ofFunction) => Object.values<WayToEnd>(ofFunction));
  return ways.some((way) =>
    (['running', 'stopping'] as const).some((before) => {
      if (endingOf(way, before).status !== status) return false;
      const [start = '', end = ''] = endingOf(way, before, '…').reason.split('…');
      const isWithDetail = start !== '' && reason.startsWith(start) && reason.endsWith(end);
      return isWithDetail || reason === endingOf(way, before).reason;
    }),
  );
}

async function expectNothingLeft(
  { table, executions }: LifecycleStack,
  scenario: Scenario,
  run: string,
  cvm: string,
): Promise<void> {
  await vi.waitFor(async () => {
    expect(await executionStatus(executions, 'run', run)).not.toBe('RUNNING');
    expect(await executionStatus(executions, 'stop', run)).not.toBe('RUNNING');
  }, untilTestEnds);
  expect(await getItem(table, cvmKeys.claim(scenario.domain, cvm))).toBeUndefined();
  expect(await scenario.commands(cvm)).toEqual([]);
}

export interface StepFunctionsCall {
  /** `StartExecution`, `SendTaskSuccess`, ... */
  operation: string;
  body: Record<string, unknown>;
}

/**
 * The fault of a call. `refuse`: the connection is closed, and the call has no effect. `lose-answer`: the call takes effect, and
 * the connection is closed before the answer. `hold`: the call has no effect and no answer. Undefined: no fault.
 */
export type Disturbance = 'refuse' | 'lose-answer' | 'hold' | undefined;

export interface StepFunctionsProxy {
  endpoint: string;
  /** Calls `decide` for every call from now on, in addition to earlier ones. Returns a function that ends this. */
  disturb: (decide: (call: StepFunctionsCall) => Disturbance) => () => void;
  stop: () => Promise<void>;
}

/** Starts an HTTP proxy in front of a Step Functions API that disturbs single calls. */
async function startStepFunctionsProxy(endpoint: string): Promise<StepFunctionsProxy> {
  const deciders = new Set<(call: StepFunctionsCall) => Disturbance>();

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = String(request.headers['x-amz-target']);
    const body = await text(request);
    const call = { operation: target.replace('AWSStepFunctions.', ''), body: JSON.parse(body) as Record<string, unknown> };
    const disturbance = [...deciders].map((decide) => decide(call)).find((found) => found !== undefined);
    if (disturbance === 'hold') return;
    if (disturbance === 'refuse') {
      response.destroy();
      return;
    }
    const answer = await post(endpoint, { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target }, body);
    if (disturbance === 'lose-answer') response.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(answer.text);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  const listening = await listen(server, 0);
  return {
    endpoint: listening.endpoint,
    disturb: (decide) => {
      deciders.add(decide);
      return () => void deciders.delete(decide);
    },
    stop: async () => {
      server.closeAllConnections();
      await listening.stop();
    },
  };
}
