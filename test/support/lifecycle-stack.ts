import { SFNClient } from '@aws-sdk/client-sfn';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { localCredentials } from '../../local/machine/environment.ts';
import { startStack, type Stack } from '../../local/stack.ts';
import { timestampOf } from '../../shared/runtime/clock.ts';
import type { Executions } from '../../shared/runs/executions.ts';
import type { RunTimes } from '../../shared/runs/state-machine.ts';
import type { Table } from '../../shared/table/table.ts';
import { patientDeadline } from './embedded-table.ts';
import { startDynamoDbProxy, type DynamoDbProxy } from './dynamodb-proxy.ts';
import { startStepFunctionsProxy, type StepFunctionsProxy } from './lifecycle-step-functions-proxy.ts';
import { movableClock } from './movable-clock.ts';
import { watchFunctions } from './watched-functions.ts';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { documentAt } from './document-at.ts';

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
  const clock = movableClock();
  const functions = watchFunctions();
  const proxied = Promise.withResolvers<{ tableProxy: DynamoDbProxy; executionsProxy: StepFunctionsProxy }>();
  const stack = await startStack({
    port: 0,
    simulator: false,
    times: runTimes,
    load: functions.load,
    clock,
    schedules: false,
    intercept: async (endpoints) => {
      const tableProxy = await startDynamoDbProxy(endpoints.dynamoDb, { latencyInMilliseconds: 0 });
      const executionsProxy = await startStepFunctionsProxy(endpoints.stepFunctions);
      proxied.resolve({ tableProxy, executionsProxy });
      return { ...endpoints, dynamoDb: tableProxy.endpoint, stepFunctions: executionsProxy.endpoint };
    },
  });
  const { tableProxy, executionsProxy } = await proxied.promise;
  const table = openTable(stack.tableName, documentAt(stack.endpoints.dynamoDb));
  const retryStrategy = new ConfiguredRetryStrategy(20, () => Math.random() * 100);
  const disturbedTable = openTable(stack.tableName, documentAt(tableProxy.endpoint, { retryStrategy }));
  const stepFunctions = new SFNClient({ ...place, endpoint: stack.endpoints.stepFunctions });
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
