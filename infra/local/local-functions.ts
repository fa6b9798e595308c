import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';

/** Invokes a function by its name, its file below functions/, and returns what it answered. */
export type InvokeFunction = (name: string, event: unknown) => Promise<unknown>;

/** Lambda's context without its old ways of ending a function. */
type FunctionContext = Omit<Context, 'done' | 'fail' | 'succeed'>;
type Handler = (event: unknown, context: FunctionContext) => unknown;
export type LoadHandler = (name: string) => Promise<Handler>;

/** The event is larger than Lambda takes. */
export class RequestTooLargeError extends Error {
  override readonly name = 'RequestTooLargeException';
}

const largestPayloadInBytes = 6 * 1024 * 1024;
const timeoutInMilliseconds = 30_000;

/** Calls handlers as Lambda does: events and results go through JSON and are at most 6 MiB, the context is Lambda's. */
export function localFunctions(load: LoadHandler = importHandler): InvokeFunction {
  return async (name, event) => {
    const payload = JSON.stringify(event);
    if (Buffer.byteLength(payload) > largestPayloadInBytes) throw new RequestTooLargeError(`${name} was given more than 6 MiB.`);
    const handler = await load(name);
    const result = JSON.stringify((await handler(JSON.parse(payload), contextOf(name))) ?? null);
    if (Buffer.byteLength(result) > largestPayloadInBytes) {
      throw Object.assign(new Error(`${name} answered with more than 6 MiB.`), { name: 'Function.ResponseSizeTooLarge' });
    }
    return JSON.parse(result) as unknown;
  };
}

export async function importHandler(name: string): Promise<Handler> {
  const file = new URL(`../../functions/${name}.ts`, import.meta.url).href;
  const { handler } = (await import(/* @vite-ignore */ file)) as { handler: Handler };
  return handler;
}

function contextOf(functionName: string): FunctionContext {
  const deadline = Date.now() + timeoutInMilliseconds;
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${functionName}`,
    memoryLimitInMB: '512',
    awsRequestId: randomUUID(),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
}
