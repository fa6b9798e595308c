import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startDynamoDb, type LocalDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { startStack, type Stack } from '../../local/stack.ts';
import { replaceClient, sharedClient } from '../../shared/runtime/clients.ts';
import { createTableClient, type Table, type TableClient } from '../../shared/table/table.ts';
import { amount } from '../support/amounts.ts';
import { callAs, type Call } from '../support/ready-computation.ts';
import { startAwsDynamoDb, type AwsDynamoDb } from '../support/aws-dynamodb/aws-dynamodb.ts';
import { readyComputations } from '../support/builders-ready-computations.ts';
import { inconsistencies, scan } from '../support/inconsistencies.ts';
import { agentEvent } from '../support/lifecycle-stack.ts';
import { untilTestEnds } from '../support/patience.ts';
import { repeating } from '../support/repeating-call.ts';
import { testClock } from '../support/test-clock.ts';
import { documentAt, patientDeadline } from '../support/embedded-table.ts';

const domain = 'front';
const count = amount({ sample: 12, full: 24 });
const third = count / 3;

let engine: LocalDynamoDb;
let front: AwsDynamoDb;
let stack: Stack;
let direct: Table;
let sdk: TableClient;
let call: Call;
beforeAll(async () => {
  engine = await startDynamoDb();
  front = await startAwsDynamoDb(engine.endpoint, { transactionInMilliseconds: 15, betweenReadsInMilliseconds: 1 });
  vi.stubEnv('DYNAMODB_ENDPOINT', front.endpoint);
  const times = { acceptInSeconds: 600, silenceInSeconds: 600, runInSeconds: 600, stopInSeconds: 600 };
  stack = await startStack({ port: 0, simulator: false, times, clock: testClock({ speed: 1 / 20 }) });
  sdk = documentAt(front.endpoint);
  sendAsOnAws();
  direct = { name: stack.tableName, document: documentAt(engine.endpoint), deadline: patientDeadline };
  call = repeating(callAs(stack.baseUrl, await stack.token('alice', [`${domain}:administrator`, `${domain}:cvm`])));
});
afterAll(async () => {
  await stack.stop();
  for (const client of [sdk, direct.document]) client.destroy();
  await front.stop();
  await engine.stop();
});

/**
 * Lets the service send its calls by the SDK, as on AWS. The client of one machine puts what is written at the same moment into
 * transactions, such as entries of the index of names: on AWS nothing holds those.
 */
function sendAsOnAws() {
  const ofMachine = sharedClient(createTableClient);
  const send = async (command: Parameters<TableClient['send']>[0], options: object) => {
    const call = async () => ({ output: await sdk.send(command, options), response: undefined });
    const commandName = command.constructor.name; // the follower of the table listens to it
    return (await ofMachine.middlewareStack.resolve(call, { commandName })(command)).output;
  };
  replaceClient(createTableClient, {
    send,
    middlewareStack: ofMachine.middlewareStack,
    destroy: () => sdk.destroy(),
  });
}

const times = <T>(many: number, make: (index: number) => T) => Array.from({ length: many }, (_, index) => make(index));
const statusesOf = (answers: { status: number }[]) => [...new Set(answers.map(({ status }) => status))];
const totalOf = async (status?: string) => {
  const filter = status === undefined ? '' : `&status=${status}`;
  return (await call('GET', `/${domain}/computations?limit=1${filter}`)).body['total'];
};

/** The items that only the changes of one run and its CVM write. */
const ofOneRun = /"(history-waiting#\d|claims#\d|log#[^"]+)"|front#cvm-\d+|"row#\d+"|[0-9a-f]{8}-[0-9a-f]{4}-/;

describe('the service on a table with the isolation of AWS', () => {
  it('answers concurrent creates, deletes, starts, stops and ends correctly, and leaves a table without contradictions', async () => {
    const ready = await readyComputations(direct, call, domain, count);
    const [deleted, completed, stopped] = [ready.slice(0, third), ready.slice(third, 2 * third), ready.slice(2 * third)];
    const at = (id: string) => `/${domain}/computations/${id}`;

    let isOver = false;
    const readPages = async () => {
      const statuses = new Set<number>();
      while (!isOver) {
        const pages = [`/${domain}/computations?limit=100`, `/${domain}/computations?limit=20&offset=10&status=running`];
        for (const page of pages) statuses.add((await call('GET', page)).status);
      }
      return [...statuses];
    };
    const change = async () => {
      const [creates, deletes, starts] = await Promise.all([
        Promise.all(times(count, (index) => call('POST', `/${domain}/computations`, { name: `computation ${index}` }))),
        Promise.all(deleted.map((id) => call('DELETE', at(id)))),
        Promise.all([...completed, ...stopped].map((id, index) => call('POST', `${at(id)}/run?cvm=cvm-${index}`))),
      ]);
      expect([creates, deletes, starts].map(statusesOf)).toEqual([[201], [204], [200]]);
      expect(new Set(creates.map(({ body }) => body['id'])).size).toBe(count);

      const runs = starts.map(({ body }) => body as unknown as string);
      const report = (index: number, type: string, status: string) =>
        call('POST', `/${domain}/cvms/cvm-${index}/reports`, { reports: [agentEvent(runs[index] ?? '', type, status)] });
      // A run that is stopped before it is offered ends at once.
      const offered = async (_: unknown, index: number) => {
        const { body } = await call('GET', `/${domain}/cvms/cvm-${completed.length + index}/commands`);
        expect(body['commands']).toHaveLength(1);
      };
      await vi.waitFor(() => Promise.all(stopped.map(offered)), untilTestEnds);
      const [ends, stops] = await Promise.all([
        Promise.all(completed.map((_, index) => report(index, 'Complete', 'Completed'))),
        Promise.all(stopped.map((id) => call('POST', `${at(id)}/stop`))),
      ]);
      expect([ends, stops].map(statusesOf)).toEqual([[200], [200]]);
      await vi.waitFor(async () => expect(await totalOf('stopping')).toBe(stopped.length), untilTestEnds);
      await Promise.all(stopped.map((_, index) => report(completed.length + index, 'Stopped', 'Stopped')));
      await vi.waitFor(async () => expect([await totalOf('running'), await totalOf('stopping')]).toEqual([0, 0]), untilTestEnds);
      isOver = true;
    };
    const [pages] = await Promise.all([readPages(), change().finally(() => (isOver = true))]);
    expect(pages).toEqual([200]);
    const ends = await Promise.all([...completed, ...stopped].map(async (id) => (await call('GET', `${at(id)}/run`)).body));
    const endsOf = (status: string, of: string[]) => of.map(() => [status, expect.any(String)] as const);
    expect(ends.map(({ status, reason }) => [status, reason])).toEqual([
      ...endsOf('completed', completed),
      ...endsOf('cancelled', stopped),
    ]);
    expect(await Promise.all([totalOf(), totalOf('created'), totalOf('completed')])).toEqual([count + 2 * third, count, third]);
    await stack.invoke('maintenance/purge', {});
    expect(inconsistencies(await scan(direct))).toEqual([]);
    expect(front.figures.conflictingItems.filter((item) => !ofOneRun.test(item))).toEqual([]); // changes of different computations share no item
    expect(front.figures.readsOfPartlyVisible).toBeGreaterThan(0);
  });
});
