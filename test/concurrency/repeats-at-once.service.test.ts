import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startStack, type Stack } from '../../local/stack.ts';
import type { Table } from '../../shared/table/table.ts';
import { amount } from '../support/amounts.ts';
import { inconsistencies, scan } from '../support/inconsistencies.ts';
import {
  type Answered,
  type KeyedName,
  preparedNames,
  type KeyedRequest,
  type Steps,
  stepsOf,
} from '../support/keyed-requests.ts';
import { startAwsDynamoDb, type AwsDynamoDb } from '../support/aws-dynamodb/aws-dynamodb.ts';
import { startDynamoDbProxy, type DynamoDbProxy } from '../support/dynamodb-proxy.ts';
import { testClock } from '../support/test-clock.ts';
import { documentAt } from '../support/embedded-table.ts';
import { systemClock } from '../../shared/runtime/deadline.ts';

let front: AwsDynamoDb;
let proxy: DynamoDbProxy;
let stack: Stack;
let direct: Table;
/** The service on a table with the isolation of AWS, behind a proxy that loses answers. */
beforeAll(async () => {
  stack = await startStack({
    port: 0,
    simulator: false,
    schedules: false,
    clock: testClock({ speed: 1 / 20 }),
    intercept: async (endpoints) => {
      front = await startAwsDynamoDb(endpoints.dynamoDb, { transactionInMilliseconds: 15, betweenReadsInMilliseconds: 1 });
      proxy = await startDynamoDbProxy(front.endpoint, { latencyInMilliseconds: 0 });
      return { ...endpoints, dynamoDb: proxy.endpoint };
    },
  });
  direct = { name: stack.tableName, document: documentAt(stack.endpoints.dynamoDb) };
});
afterAll(async () => {
  await stack.stop();
  direct.document.destroy();
  await proxy.stop();
  await front.stop();
});

const requestsAtOnce = amount({ sample: 6, full: 20 });

async function sendUntilAnswered(steps: Steps, name: KeyedName, request: KeyedRequest, key: string): Promise<Answered> {
  for (;;) {
    const answered = await steps.send(name, request, { 'idempotency-key': key });
    if (answered.status !== 503) return answered;
    await systemClock.wait(Number(answered.headers.get('retry-after')) * 1000);
  }
}

describe('equal requests at once with the same Idempotency-Key', () => {
  it.each(preparedNames)(
    'to %s make one change, and all get its answer, also if every fourth answer of the table is lost',
    async (name) => {
      const domain = `d-${randomUUID()}`;
      const token = await stack.token('alice', [`${domain}:administrator`]);
      const steps = stepsOf(stack.baseUrl, domain, token);
      const [request, key] = [await steps.prepare(name), randomUUID()];
      const before = await countsOf(steps, domain, request);
      proxy.inject({ kind: 'lost-answer', share: 1 / 4, operations: ['TransactWriteItems'] });
      onTestFinished(() => proxy.inject(undefined));
      const answers = await Promise.all(
        Array.from({ length: requestsAtOnce }, () => sendUntilAnswered(steps, name, request, key)),
      );
      proxy.inject(undefined);
      const told = answers.map(({ status, body: { upload: _, ...body } }) => JSON.stringify([status, body]));
      expect(new Set(told).size).toBe(1);
      expect(answers[0]?.status).toBeLessThan(300);
      expect(answers.filter(({ headers }) => !headers.has('idempotent-replayed')).length).toBeLessThanOrEqual(1);
      const after = await countsOf(steps, domain, request);
      for (const [index, count] of after.entries()) expect(Math.abs(count - (before[index] ?? 0))).toBeLessThanOrEqual(1);
      await stack.invoke('maintenance/purge', {});
      expect(inconsistencies(await scan(direct))).toEqual([]);
    },
  );
});

/** The number of computations, assets, runs, and events by users: the service ends a stopped run in its own time. */
async function countsOf({ get }: Steps, domain: string, { computation }: KeyedRequest): Promise<number[]> {
  const lists = await Promise.all(['computations', 'assets', 'computations/runs'].map((list) => get(`/${domain}/${list}`)));
  const { body } = await get(`/${domain}/computations/${computation ?? 'none'}/events?limit=100`);
  const { events = [] } = body as { events?: { originator: string }[] };
  const byUsers = events.filter(({ originator }) => originator !== 'system');
  return [...lists.map((list) => Number(list.body['total'])), byUsers.length];
}
