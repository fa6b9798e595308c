import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { localCredentials } from '../../infra/local/local-credentials.ts';
import { startStack, type Stack } from '../../infra/local/stack.ts';
import { timestampOf } from '../../shared/clock.ts';
import type { Executions } from '../../shared/runs/executions.ts';
import type { RunTimes } from '../../shared/runs/state-machine.ts';
import type { Table } from '../../shared/table/table.ts';
import { patientDeadline } from './embedded-table.ts';
import { startDynamoDbProxy, type DynamoDbProxy } from './dynamodb-proxy.ts';
import { startStepFunctionsProxy, type StepFunctionsProxy } from './lifecycle-step-functions-proxy.ts';
import { movableClock } from './movable-clock.ts';
import { watchFunctions } from './watched-functions.ts';

/** The whole service, with a proxy before its table and before its state machine, and a time that tests move. */
export interface LifecycleStack {
  stack: Stack;
  /** The table, straight on the engine: for looking at it, and for what no fault is to meet. */
  table: Table;
  /** The table through the proxy, by a client that repeats what fails until the test ends. */
  disturbedTable: Table;
  tableProxy: DynamoDbProxy;
  /** The state machine, straight. */
  executions: Executions;
  executionsProxy: StepFunctionsProxy;
  /** The service's time: RFC 3339, UTC, milliseconds. */
  now: () => string;
  /** Waits until no function runs, so that none meets its timeout, and moves the time. Not while other tests run. */
  lapse: (seconds: number) => Promise<void>;
  stop: () => Promise<void>;
}

/** Nothing of a run ends by itself in the time that a test takes. */
export const runTimes: RunTimes = { acceptInSeconds: 600, silenceInSeconds: 2_400, runInSeconds: 3_600, stopInSeconds: 600 };

const place = { region: 'local', credentials: localCredentials };

/**
 * Without simulated CVMs: the test is the CVM. Scheduled functions run when the test invokes them. One per process, as
 * startStack says.
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
  const table = openTable(stack.tableName, new DynamoDBClient({ ...place, endpoint: stack.endpoints.dynamoDb }));
  const retryStrategy = new ConfiguredRetryStrategy(20, () => Math.random() * 100);
  const disturbedTable = openTable(
    stack.tableName,
    new DynamoDBClient({ ...place, endpoint: tableProxy.endpoint, retryStrategy }),
  );
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

function openTable(name: string, client: DynamoDBClient): Table {
  const document = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return { name, document, deadline: patientDeadline };
}
