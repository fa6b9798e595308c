import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { constructStack } from '@smithy/core/client';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import { type Dispatcher, Pool } from 'undici';
import { clientLimits, maxAttempts, pauseBefore } from '../../shared/runtime/clients.ts';
import { maxTimeInMilliseconds, untilAborted } from '../../shared/runtime/deadline.ts';
import type { TableClient } from '../../shared/table/table.ts';
import { localCredentials } from '../machine/environment.ts';

type Input = Record<string, unknown>;
interface Command {
  constructor: { name: string };
  input: Input;
}
interface Options {
  abortSignal?: AbortSignal;
}

/**
 * Returns a client that sends the calls of the table to the DynamoDB engine of this machine
 * (docs/adr/0018-client-on-one-machine.md). The client gives the answers and throws the errors of the SDK of AWS.
 * @param isListening whether the engine listens at its address. While the engine does not, another program may, so each call
 * fails as if nobody listened there, and the client repeats the call.
 */
export function engineClient(endpoint: string, isListening: () => boolean): TableClient {
  const { connectionTimeout: timeout, requestTimeout } = clientLimits;
  const pool = new Pool(endpoint, { connect: { timeout }, headersTimeout: requestTimeout, bodyTimeout: requestTimeout });
  const middlewareStack = constructStack<Input, object>();
  const call = async (action: string, input: Input, signal: AbortSignal | undefined): Promise<object> => {
    const body = JSON.stringify(withAttributes(input, attributesOf));
    for (let attempt = 1; ; attempt++) {
      try {
        if (!isListening()) throw Object.assign(new Error('The DynamoDB engine does not listen.'), { code: 'ECONNREFUSED' });
        const answer = await post(pool, { action, body, signal });
        if (answer.status !== 200) throw exceptionOf(answer);
        return withAttributes(JSON.parse(answer.body) as Input, valuesOf);
      } catch (error) {
        if (attempt === maxAttempts || !mayPass(error)) throw error;
        await delay(pauseBefore(attempt), undefined, signal ? { signal } : {});
      }
    }
  };
  const writeOne = writingTogether(call);
  const send = async ({ constructor: { name }, input }: Command, { abortSignal }: Options = {}): Promise<object> => {
    const callEngine = async ({ input }: { input: Input }) => {
      const action = actions[name] ?? name.replace(/Command$/, '');
      const isOfOneItem = action === 'PutItem' || action === 'DeleteItem';
      const output = await (isOfOneItem ? writeOne(action, input, abortSignal) : call(action, input, abortSignal));
      return { output, response: undefined };
    };
    return (await middlewareStack.resolve(callEngine, { commandName: name })({ input })).output;
  };
  return { send, middlewareStack, destroy: () => void pool.destroy() } as unknown as TableClient;
}

type Call = (action: string, input: Input, signal: AbortSignal | undefined) => Promise<object>;

/** The most actions that DynamoDB accepts in a transaction. */
const mostTogether = 100;

/**
 * Returns a function that puts or deletes an item. Calls at the same moment are written by one transaction, which costs less than
 * half. If the engine refuses the transaction, such as by the condition of one item, each call is written by itself.
 */
function writingTogether(call: Call): Call {
  let waiting: Record<string, Input>[] = [];
  let together: Promise<boolean> | undefined;
  const writeWaiting = async (): Promise<boolean> => {
    await new Promise(setImmediate);
    const TransactItems = waiting;
    [waiting, together] = [[], undefined];
    if (TransactItems.length === 1) return false;
    try {
      const transaction = { TransactItems, ClientRequestToken: randomUUID() };
      await call('TransactWriteItems', transaction, AbortSignal.timeout(maxTimeInMilliseconds));
      return true;
    } catch (error) {
      if (error instanceof DynamoDBServiceException && error.$metadata.httpStatusCode === 400) return false;
      throw error; // it may have been written
    }
  };
  return async (action, input, signal = AbortSignal.timeout(maxTimeInMilliseconds)) => {
    signal.throwIfAborted();
    const isAlone = 'ReturnValues' in input || waiting.length === mostTogether;
    const isWritten = !isAlone && (await untilAborted(join(action, input), signal));
    return isWritten ? {} : await call(action, input, signal);
  };
  function join(action: string, input: Input): Promise<boolean> {
    waiting.push({ [action.replace('Item', '')]: input });
    return (together ??= writeWaiting());
  }
}

/** The names of DynamoDB's actions by the commands of the document client, for commands with another name than their action. */
const actions: Record<string, string> = {
  GetCommand: 'GetItem',
  PutCommand: 'PutItem',
  UpdateCommand: 'UpdateItem',
  DeleteCommand: 'DeleteItem',
  BatchGetCommand: 'BatchGetItem',
  BatchWriteCommand: 'BatchWriteItem',
  TransactGetCommand: 'TransactGetItems',
  TransactWriteCommand: 'TransactWriteItems',
};

interface Answer {
  status: number;
  body: string;
}

/**
 * The credential in the `authorization` header of each request. The engine checks no signature but demands the header, and
 * DynamoDB Local demands credentials in it.
 */
const credential = `${localCredentials.accessKeyId}/20260101/local/dynamodb/aws4_request`;
const headers = {
  'content-type': 'application/x-amz-json-1.0',
  'x-amz-date': '20260101T000000Z',
  authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=none`,
};

function post(
  pool: Pool,
  { action, body, signal }: { action: string; body: string; signal: AbortSignal | undefined },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let status = 0;
    const chunks: Buffer[] = [];
    const abort = () => {
      const aborted = Object.assign(new Error('The call was aborted.', { cause: signal?.reason }), { name: 'AbortError' });
      controller?.abort(aborted);
      reject(aborted);
    };
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort, { once: true });
    pool.dispatch(
      { path: '/', method: 'POST', headers: { ...headers, 'x-amz-target': `DynamoDB_20120810.${action}` }, body },
      {
        onRequestStart: (started) => {
          controller = started;
          if (signal?.aborted) abort();
        },
        onResponseStart: (_, code) => void (status = code),
        onResponseData: (_, chunk) => void chunks.push(chunk),
        onResponseEnd: () => {
          signal?.removeEventListener('abort', abort);
          resolve({ status, body: Buffer.concat(chunks).toString() });
        },
        onResponseError: (_, error) => {
          signal?.removeEventListener('abort', abort);
          reject(asOfNode(error));
        },
      },
    );
  });
}

/** The codes of undici for a connection that broke, or on which nothing comes. */
const codesOfConnections = ['SOCKET', 'CONNECT_TIMEOUT', 'HEADERS_TIMEOUT', 'BODY_TIMEOUT'].map((name) => `UND_ERR_${name}`);

/** Returns an error of a connection with a code that the SDK of AWS knows: undici has its own for one that broke or is silent. */
function asOfNode(error: Error): Error {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (!codesOfConnections.includes(code)) return error;
  return Object.assign(new Error(`The DynamoDB engine does not answer: ${error.message}`, { cause: error }), {
    code: 'ECONNRESET',
  });
}

/** The exceptions of DynamoDB by name that the service recognises by their class. */
const exceptions: Record<string, new (options: ExceptionOptions) => Error> = {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
};

interface ExceptionOptions {
  message: string;
  $metadata: { httpStatusCode: number };
}

/** Builds the exception of the SDK of AWS from an engine's answer, such as TransactionCanceledException with its reasons. */
function exceptionOf({ status: httpStatusCode, body }: Answer): Error {
  const { __type = '', message, Message, ...members } = parsed(body);
  const name = __type.replace(/^.*#/, '');
  const options = {
    ...members,
    message: message ?? Message ?? `The DynamoDB engine answered ${httpStatusCode}.`,
    $metadata: { httpStatusCode },
  };
  const Known = exceptions[name];
  return Known ? new Known(options) : new DynamoDBServiceException({ ...options, name, $fault: 'client' });
}

function parsed(body: string): Partial<Record<'__type' | 'message' | 'Message', string>> {
  try {
    return JSON.parse(body) as object;
  } catch {
    return {};
  }
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const given = error as Parameters<typeof isTransientError>[0];
  return isThrottlingError(given) || isTransientError(given) || isServerError(given);
}

type Convert = (item: Input) => Input;

/** The names of the members of inputs and outputs of DynamoDB that are items, or maps of attributes. */
const items = new Set(['Attributes', 'ExclusiveStartKey', 'ExpressionAttributeValues', 'Item', 'Key', 'LastEvaluatedKey']);

/**
 * Converts the items in an input or output of DynamoDB, at any depth. `membersOf` converts the lists of items by table that
 * batches have, because the names of tables say nothing.
 */
function withAttributes(given: Input, convert: Convert): Input {
  const converted: Input = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    converted[name] = items.has(name) ? convert(value as Input) : membersOf(name, value, convert);
  }
  return converted;
}

function membersOf(name: string, value: unknown, convert: Convert): unknown {
  if (Array.isArray(value)) {
    const members = value as unknown[];
    if (name === 'Items' || name === 'Keys') return members.map((item) => convert(item as Input));
    return members.map((member) => (isObject(member) ? withAttributes(member, convert) : member));
  }
  if (!isObject(value)) return value;
  if (name !== 'Responses') return withAttributes(value, convert);
  const ofTables = Object.entries(value).map(([table, found]) => [table, (found as Input[]).map(convert)]);
  return Object.fromEntries(ofTables);
}

const isObject = (value: unknown): value is Input => typeof value === 'object' && value !== null;

type Attribute = Record<string, unknown>;

/** Converts an item to DynamoDB's JSON. Leaves out attributes that are undefined. */
function attributesOf(item: Input): Input {
  const attributes: Input = {};
  for (const [name, value] of Object.entries(item)) if (value !== undefined) attributes[name] = attributeOf(value);
  return attributes;
}

function attributeOf(value: unknown): Attribute {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value === null) return { NULL: true };
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') };
  if (value instanceof Set) return { SS: [...(value as Set<string>)] };
  if (Array.isArray(value)) return { L: value.filter((member) => member !== undefined).map(attributeOf) };
  return { M: attributesOf(value as Input) };
}

function valuesOf(attributes: Input): Input {
  const item: Input = {};
  for (const [name, attribute] of Object.entries(attributes)) item[name] = valueOf(attribute as Attribute);
  return item;
}

function valueOf(attribute: Attribute): unknown {
  const [[type, value] = ['', undefined]] = Object.entries(attribute);
  switch (type) {
    case 'N':
      return Number(value);
    case 'NULL':
      return null;
    case 'B':
      return new Uint8Array(Buffer.from(value as string, 'base64'));
    case 'SS':
      return new Set(value as string[]);
    case 'L':
      return (value as Attribute[]).map(valueOf);
    case 'M':
      return valuesOf(value as Input);
    default:
      return value; // S and BOOL
  }
}
