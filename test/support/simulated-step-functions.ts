import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  type SendTaskFailureCommandInput,
  type SendTaskSuccessCommandInput,
  SFNClient,
} from '@aws-sdk/client-sfn';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Answer, startStepFunctions } from '../../local/step-functions/step-functions.ts';
import { listen, type Listening } from '../../local/machine/listen.ts';
import { local, localCredentials } from '../../local/machine/environment.ts';
import type { StackOptions } from '../../local/stack.ts';
import type { Executions } from '../../shared/lifecycle/executions.ts';

/** Serves a part that is called in the process of its service, so that proxies and clients of tests reach it. */
export async function serveInProcess({ answer }: { answer: Answer }): Promise<Listening> {
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { statusCode, body } = await answer(String(request.headers['x-amz-target']), await text(request));
    response.writeHead(statusCode, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
  };
  return await listen(
    createServer((request, response) => void serve(request, response)),
    0,
  );
}

/** Lets functions that do not share the modules of their stack, such as bundles, call its state machine. */
export const serveExecutions: NonNullable<StackOptions['intercept']> = async (endpoints, { stepFunctions }) => ({
  ...endpoints,
  stepFunctions: (await serveInProcess(stepFunctions)).endpoint,
});

/** Starts a Step Functions API whose executions only wait for a day, so that tests measure or model the caller only. */
export async function startIdleStepFunctions(): Promise<{ executions: Executions; endpoint: string; stop: () => Promise<void> }> {
  const { stateMachineArn } = local;
  const stepFunctions = startStepFunctions({
    definition: { StartAt: 'Wait', States: { Wait: { Type: 'Wait', Seconds: 24 * 60 * 60, End: true } } },
    stateMachineArn,
    invoke: () => Promise.reject(new Error('It has no tasks.')),
    onStatusChange: () => undefined,
  });
  const server = await serveInProcess(stepFunctions);
  const client = new SFNClient({ region: 'local', credentials: localCredentials, endpoint: server.endpoint });
  return {
    executions: { client, stateMachineArn },
    endpoint: server.endpoint,
    stop: async () => {
      client.destroy();
      await stepFunctions.stop();
      await server.stop();
    },
  };
}

/** AWS's quota of DescribeExecution for an account and most regions. */
const callsAtOnce = 250;
const callsPerSecond = 10;
const millisecondsPerCall = 10;

/**
 * Answers DescribeExecution with RUNNING, or that the execution does not exist, within AWS's quota and in a time of its own.
 * Other calls fail.
 * @param isLost whether the execution of this name is gone
 */
export function quotaStepFunctions(isLost: (name: string) => boolean) {
  let [time, tokens, filledAt, calls, throttled] = [0, callsAtOnce, 0, 0, 0];
  const client = new SFNClient({
    region: 'local',
    credentials: localCredentials,
    endpoint: 'http://127.0.0.1:9',
    maxAttempts: 1,
  });
  client.middlewareStack.add(
    (_next, { commandName }) =>
      async ({ input }) => {
        if (commandName !== DescribeExecutionCommand.name) throw new Error(`${String(commandName)} is not expected.`);
        calls += 1;
        time += millisecondsPerCall;
        tokens = Math.min(callsAtOnce, tokens + ((time - filledAt) / 1000) * callsPerSecond);
        filledAt = time;
        if (tokens < 1) {
          throttled += 1;
          throw Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException', $fault: 'client', $metadata: {} });
        }
        tokens -= 1;
        const name =
          String((input as { executionArn?: string }).executionArn)
            .split(':')
            .at(-1) ?? '';
        if (isLost(name)) throw new ExecutionDoesNotExist({ message: 'It is gone.', $metadata: {} });
        return { output: { $metadata: {}, status: 'RUNNING' }, response: {} };
      },
    { step: 'initialize' },
  );
  const executions: Executions = { client, stateMachineArn: local.stateMachineArn };
  return {
    executions,
    /** Lets the time pass until the next full minute. */
    untilNextMinute: () => (time = (Math.floor(time / 60_000) + 1) * 60_000),
    figures: () => ({ calls, throttled, minute: Math.floor(time / 60_000) }),
    stop: () => client.destroy(),
  };
}

/** Returns how each task ends from now on, by its token: `completed`, or the error that it was failed with. */
export function recordTasks({ client }: Executions): Map<string, string> {
  const ended = new Map<string, string>();
  client.middlewareStack.add(
    (next, { commandName }) =>
      (sent) => {
        const { taskToken = '', error = '' } = sent.input as Partial<SendTaskSuccessCommandInput & SendTaskFailureCommandInput>;
        if (commandName === 'SendTaskSuccessCommand') ended.set(taskToken, 'completed');
        if (commandName === 'SendTaskFailureCommand') ended.set(taskToken, error);
        return next(sent);
      },
    { step: 'initialize' },
  );
  return ended;
}
