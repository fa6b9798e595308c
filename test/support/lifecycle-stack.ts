import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startDynamoDb } from '../../infra/local/dynamodb.ts';
import { localCredentials } from '../../infra/local/local-credentials.ts';
import { startStack, type Stack } from '../../infra/local/stack.ts';
import type { Executions } from '../../shared/runs/executions.ts';
import type { RunTimes } from '../../shared/runs/state-machine.ts';
import type { Table } from '../../shared/table/table.ts';
import { patientDeadline } from './embedded-table.ts';
import { startDynamoDbProxy, type DynamoDbProxy } from './dynamodb-proxy.ts';
import { startStepFunctionsProxy, type StepFunctionsProxy } from './lifecycle-step-functions-proxy.ts';

/** The whole service, with a proxy before its table and before its state machine. */
export interface LifecycleStack {
  stack: Stack;
  /** The table, straight on the engine: for looking at it, and for what no fault is to meet. */
  table: Table;
  tableProxy: DynamoDbProxy;
  /** The state machine, straight. */
  executions: Executions;
  executionsProxy: StepFunctionsProxy;
  stop: () => Promise<void>;
}

/** Without a simulated CVM: the test is the CVM. One per process, as startStack says. */
export async function startLifecycleStack(times: RunTimes, latencyInMilliseconds = 0): Promise<LifecycleStack> {
  const engine = await startDynamoDb();
  const tableProxy = await startDynamoDbProxy(engine.endpoint, { latencyInMilliseconds });
  process.env['DYNAMODB_ENDPOINT'] = tableProxy.endpoint;
  const stack = await startStack({ port: 0, simulator: false, times });
  const executionsProxy = await startStepFunctionsProxy(stack.endpoints.stepFunctions);
  process.env['AWS_ENDPOINT_URL_SFN'] = executionsProxy.endpoint; // no function has asked for it yet
  const place = { region: 'local', credentials: localCredentials };
  const client = new DynamoDBClient({ ...place, endpoint: engine.endpoint });
  const document = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  const stepFunctions = new SFNClient({ ...place, endpoint: stack.endpoints.stepFunctions });
  return {
    stack,
    table: { name: stack.tableName, document, deadline: patientDeadline },
    tableProxy,
    executions: { client: stepFunctions, stateMachineArn: stack.stateMachineArn },
    executionsProxy,
    stop: async () => {
      await executionsProxy.stop();
      await stack.stop();
      document.destroy();
      stepFunctions.destroy();
      await tableProxy.stop();
      await engine.stop();
    },
  };
}
