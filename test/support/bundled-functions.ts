import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { constructStack } from '@smithy/core/client';
import { type FunctionName, variablesOf } from '../../infra/service/service-function.ts';
import { followLog, followTable } from '../../local/functions/background.ts';
import { type LoadHandler, localFunctions } from '../../local/functions/local-functions.ts';
import { listen } from '../../local/machine/listen.ts';
import type { StackOptions } from '../../local/stack.ts';
import { serveKms } from './answering-aws.ts';
import { post } from './post.ts';
import { serveExecutions } from './simulated-step-functions.ts';
import { environment } from '../../shared/runtime/environment.ts';
import type { TableClient } from '../../shared/table/table.ts';

type Handler = Awaited<ReturnType<LoadHandler>>;

/**
 * Returns what makes a stack load functions from their bundles. They call KMS, Step Functions and DynamoDB over HTTP, and what they write
 * is followed. Each function sees only those variables of the service that its deployment sets.
 */
export function bundledFunctions(folder: string): Pick<StackOptions, 'load' | 'intercept'> {
  const running = new AsyncLocalStorage<string>();
  hideVariables((variable) => {
    const name = running.getStore();
    return name !== undefined && isOfService(variable) && !variablesOf(name as FunctionName).some((given) => given === variable);
  });
  let kms: Promise<unknown> | undefined;
  const load: LoadHandler = async (name) => {
    await (kms ??= serveKms().then(({ endpoint }) => (process.env['AWS_ENDPOINT_URL_KMS'] = endpoint)));
    const { handler } = (await import(/* @vite-ignore */ join(folder, name, 'index.mjs'))) as { handler: Handler };
    return (event, context) => running.run(name, () => handler(event, context));
  };
  const intercept: StackOptions['intercept'] = async (endpoints, parts) => ({
    ...(await serveExecutions(endpoints, parts)),
    dynamoDb: await followWrites(endpoints.dynamoDb, load),
  });
  return { load, intercept };
}

/**
 * Passes calls on to a DynamoDB engine, and has functions follow the transactions, as the table's stream does on AWS: the bundles have
 * clients of their own, in which the stack sees nothing.
 * @returns the address that takes the calls
 */
async function followWrites(engine: string, load: LoadHandler): Promise<string> {
  const middlewareStack = constructStack<object, { status: number; text: string }>();
  const followed = { middlewareStack } as unknown as TableClient;
  const invoke = localFunctions({ load });
  followTable(followed, invoke);
  followLog(followed, invoke);
  const server = createServer((request, response) => {
    const pass = async () => {
      const body = await text(request);
      const target = String(request.headers['x-amz-target']);
      const { host: _, 'content-length': _length, connection: _connection, ...headers } = request.headers;
      const send = async () => {
        const output = await post(engine, headers, body);
        if (output.status !== 200) throw Object.assign(new Error(output.text), { output });
        return { output, response: undefined };
      };
      const isTransaction = target.endsWith('.TransactWriteItems');
      const call = middlewareStack.resolve(send, { commandName: isTransaction ? 'TransactWriteCommand' : '' });
      const { output } = await call({ input: isTransaction ? withoutTypes(JSON.parse(body) as Wire) : {} }).catch(
        (error: unknown) => error as { output: { status: number; text: string } },
      );
      response.writeHead(output.status, { 'content-type': 'application/x-amz-json-1.0' }).end(output.text);
    };
    pass().catch(() => response.destroy());
  });
  return (await listen(server, 0)).endpoint;
}

interface WireKey {
  pk: { S: string };
  sk: { S: string };
}
interface Wire {
  TransactItems: Record<string, { Key?: WireKey; Item?: WireKey }>[];
}

/** Returns the keys of a transaction as the SDK's document client has them. */
function withoutTypes({ TransactItems }: Wire): object {
  const keyOf = ({ pk, sk }: WireKey) => ({ pk: pk.S, sk: sk.S });
  const namedKey = ({ Key, Item }: { Key?: WireKey; Item?: WireKey }) => ({
    ...(Key && { Key: keyOf(Key) }),
    ...(Item && { Item: keyOf(Item) }),
  });
  const keysOf = (item: Wire['TransactItems'][number]) =>
    Object.fromEntries(Object.entries(item).map(([action, given]) => [action, namedKey(given)]));
  return { TransactItems: TransactItems.map(keysOf) };
}

function isOfService(variable: string): boolean {
  return Object.hasOwn(environment(), variable) && variable !== 'AWS_REGION'; // Lambda sets the region
}

function hideVariables(isHidden: (variable: string) => boolean): void {
  // A copy, because the original does not work behind a proxy.
  process.env = new Proxy<NodeJS.ProcessEnv>(
    { ...process.env },
    { get: (variables, name) => (typeof name === 'string' && !isHidden(name) ? variables[name] : undefined) },
  );
}
