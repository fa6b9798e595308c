import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { post } from './post.ts';

/** A recorded call. Times are milliseconds of `performance.now()`. */
export interface Call {
  operation: string;
  startedAt: number;
  endedAt: number;
  status: number;
  readUnits: number;
  writeUnits: number;
  /** The length of the answer, which its caller parses. */
  answerBytes: number;
}

/**
 * A fault in a share (0 to 1, evenly spread) of the calls:
 * `conflict`: a transaction is cancelled as by DynamoDB when another one holds an item. Nothing is written.
 * `throttling`: the call is refused with ProvisionedThroughputExceededException. Nothing is read or written.
 * `dropped`: the connection is closed. Nothing is read or written.
 * `lost-answer`: the call is executed, and the connection is closed before the answer.
 * `still-in-progress`: a transaction is executed, but its caller gets TransactionInProgressException.
 * `contention`: a transaction is cancelled while another one through the proxy holds one of its items. Each transaction holds
 * its items for `holdInMilliseconds`.
 * `operations` limits the fault to these operations; faults of transactions affect only transactions. `after` skips the given
 * number of calls. `times` ends the fault after the given number of faults.
 */
export interface Fault {
  kind: 'conflict' | 'throttling' | 'dropped' | 'lost-answer' | 'still-in-progress' | 'contention';
  share: number;
  operations?: string[];
  after?: number;
  times?: number;
  holdInMilliseconds?: number;
}

const ofTransactions = new Set<Fault['kind']>(['conflict', 'still-in-progress', 'contention']);

export interface DynamoDbProxy {
  endpoint: string;
  calls: Call[];
  /** The number of calls with a fault since the last reset. */
  faults: () => number;
  /** Clears the calls and the count of faults. The injected fault stays. */
  reset: () => void;
  /** The longest chain of calls of which each began after the previous one had ended. */
  sequentialCalls: () => number;
  readUnits: () => number;
  writeUnits: () => number;
  inject: (fault: Fault | undefined) => void;
  stop: () => Promise<void>;
}

/**
 * Starts an HTTP proxy in front of a DynamoDB engine. It records every call with its consumed capacity, and injects faults in
 * DynamoDB's wire format. It delays each call like a network, so that parallel calls overlap and count as one round trip.
 */
export async function startDynamoDbProxy(
  engineEndpoint: string,
  options: { latencyInMilliseconds?: number } = {},
): Promise<DynamoDbProxy> {
  const latencyInMilliseconds = options.latencyInMilliseconds ?? 5;
  const calls: Call[] = [];
  let fault: Fault | undefined;
  let exposed = 0;
  let faults = 0;

  const meets = (operation: string): Fault | undefined => {
    if (!fault || faults >= (fault.times ?? Infinity)) return undefined;
    const operations = ofTransactions.has(fault.kind) ? ['TransactWriteItems'] : fault.operations;
    if (operations && !operations.includes(operation)) return undefined;
    exposed++;
    const counted = exposed - (fault.after ?? 0);
    if (counted <= 0 || Math.floor(counted * fault.share) === Math.floor((counted - 1) * fault.share)) return undefined;
    if (fault.kind !== 'contention') faults++;
    return fault;
  };

  const held = new Set<string>();
  const contend = async (body: Json, holdInMilliseconds: number, carryOut: () => Promise<Answer>): Promise<Answer> => {
    const items = itemsOf(body);
    const taken = items.findIndex((item) => held.has(item));
    if (taken >= 0) {
      faults++;
      return conflict(items.length, taken);
    }
    for (const item of items) held.add(item);
    try {
      await delay(holdInMilliseconds);
      return await carryOut();
    } finally {
      for (const item of items) held.delete(item);
    }
  };

  const answerTo = async (met: Fault | undefined, body: Json, carryOut: () => Promise<Answer>): Promise<Answer> => {
    switch (met?.kind) {
      case 'conflict':
      case 'throttling':
        return refusal(met.kind, body);
      case 'dropped':
        return { status: 0, text: '{}' };
      case 'still-in-progress':
        await carryOut();
        return wireError('com.amazonaws.dynamodb.v20120810#TransactionInProgressException', { Message: 'Still in progress.' });
      case 'contention':
        return await contend(body, met.holdInMilliseconds ?? 0, carryOut);
      case 'lost-answer':
      case undefined:
        return await carryOut();
    }
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const startedAt = performance.now();
    const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const body = await jsonOf(request);
    const met = meets(operation);
    if (latencyInMilliseconds > 0) await letOthersArrive(latencyInMilliseconds);
    const carryOut = () => forward(engineEndpoint, request, { ReturnConsumedCapacity: 'TOTAL', ...body });
    const answer = await answerTo(met, body, carryOut);
    const units = unitsOf(answer.text);
    const reads = readOperations.has(operation);
    calls.push({
      operation,
      startedAt,
      endedAt: performance.now(),
      status: answer.status,
      readUnits: reads ? units : 0,
      writeUnits: reads ? 0 : units,
      answerBytes: Buffer.byteLength(answer.text),
    });
    if (met?.kind === 'lost-answer' || met?.kind === 'dropped') {
      response.destroy();
      return;
    }
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': randomUUID() });
    response.end(answer.text);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 0; // never: a client may send a request while its idle connection is being closed
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy got no port.');

  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    calls,
    faults: () => faults,
    reset: () => {
      calls.length = 0;
      exposed = 0;
      faults = 0;
    },
    sequentialCalls: () => longestChain(calls),
    readUnits: () => calls.reduce((sum, call) => sum + call.readUnits, 0),
    writeUnits: () => calls.reduce((sum, call) => sum + call.writeUnits, 0),
    inject: (next) => {
      fault = next;
      exposed = 0;
      faults = 0;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const readOperations = new Set(['GetItem', 'BatchGetItem', 'TransactGetItems', 'Query', 'Scan']);

type Json = Record<string, unknown>;

async function jsonOf(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? {} : (JSON.parse(text) as Json);
}

interface Answer {
  status: number;
  text: string;
}

const takesConsumedCapacity = /Item|Items|Query|Scan$/;

async function forward(engineEndpoint: string, request: IncomingMessage, body: Json): Promise<Answer> {
  const target = String(request.headers['x-amz-target']);
  if (!takesConsumedCapacity.test(target)) delete body['ReturnConsumedCapacity'];
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': target,
    'x-amz-date': String(request.headers['x-amz-date']),
    authorization: String(request.headers.authorization),
  };
  return await post(engineEndpoint, headers, JSON.stringify(body));
}

function refusal(kind: 'conflict' | 'throttling', body: Json): Answer {
  if (kind === 'throttling') {
    return wireError('com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException', {
      message: 'The level of configured provisioned throughput for the table was exceeded.',
    });
  }
  const actions = itemsOf(body).length;
  return conflict(actions, actions - 1);
}

function conflict(actions: number, conflicting: number): Answer {
  const reasons = Array.from({ length: actions }, (_, index) =>
    index === conflicting ? { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' } : { Code: 'None' },
  );
  const codes = reasons.map((reason) => reason.Code).join(', ');
  return wireError('com.amazonaws.dynamodb.v20120810#TransactionCanceledException', {
    Message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    CancellationReasons: reasons,
  });
}

/** Returns the keys of a transaction's actions in order. */
function itemsOf(body: Json): string[] {
  const actions = (body['TransactItems'] ?? []) as Record<string, { Key?: WireKey; Item?: WireKey }>[];
  return actions.map((action) => {
    const { Key, Item } = Object.values(action)[0] ?? {};
    const { pk, sk } = Key ?? Item ?? {};
    return `${pk?.S ?? ''} ${sk?.S ?? ''}`;
  });
}

interface WireKey {
  pk?: { S: string };
  sk?: { S: string };
}

function wireError(type: string, fields: Json): Answer {
  return { status: 400, text: JSON.stringify({ __type: type, ...fields }) };
}

/** Adds up the consumed capacity, which is one object, or one for each table of a batch or transaction. */
function unitsOf(text: string): number {
  const { ConsumedCapacity: consumed } = JSON.parse(text) as { ConsumedCapacity?: Capacity | Capacity[] };
  return [consumed ?? []].flat().reduce((sum, { CapacityUnits: units }) => sum + (units ?? 0), 0);
}

interface Capacity {
  CapacityUnits?: number;
}

/**
 * Waits for the latency, and then for requests that were sent together with this one. On a busy machine they arrive late, but
 * they are on their way: the callers are in this process, so each turn of its loop accepts and reads what was sent before.
 */
async function letOthersArrive(latencyInMilliseconds: number): Promise<void> {
  await delay(latencyInMilliseconds);
  for (let count = 0; count < 5; count++) await turn();
}

function longestChain(calls: Call[]): number {
  let chain = 0;
  let lastEnd = -Infinity;
  for (const call of calls.toSorted((a, b) => a.endedAt - b.endedAt)) {
    if (call.startedAt < lastEnd) continue;
    chain++;
    lastEnd = call.endedAt;
  }
  return chain;
}
