import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { logPrefix } from 'computation-management-counted-list/keys';
import { issueLocalToken } from 'computation-management-client';
import { numberedId } from 'computation-management-formats/identifiers';
import { startDynamoDb } from '../../../local/dynamodb/dynamodb.ts';
import { freePort } from '../../../local/machine/listen.ts';
import { localCredentials, local } from '../../../local/machine/environment.ts';
import { documentClient, queryPartition, queryPrefix } from '../../../shared/table/table.ts';
import { openList, rowLists } from '../../../shared/table/row-lists.ts';
import { keyOfItem, keyToWrite, listKeys } from '../../../shared/table/keys.ts';
import { deleteItems, incrementBy } from '../../../shared/table/writes.ts';
import { patientDeadline } from '../../../test/support/embedded-table.ts';
import { readyComputations } from '../../../test/support/builders-ready-computations.ts';
import { callAs } from '../../../test/support/ready-computation.ts';
import { agentEvent } from '../../../test/support/lifecycle-stack.ts';
import { fill } from '../lists/fill.ts';
import { request, startServer, startsPerService, type Service } from './service.ts';

const domain = 'bench';
/** The rows of a page, as of the peers. */
const limit = 10;

/** Starts this service on one machine, in a process of its own, and fills a domain with computations directly in its table. */
export async function startOurs(rows: number): Promise<Service> {
  const engine = await startDynamoDb();
  const port = await freePort();
  const environment = { PORT: String(port), DYNAMODB_ENDPOINT: engine.endpoint };
  const baseUrl = `http://127.0.0.1:${port}`;
  // Simulated CVMs would take the time of the service, which the peers do not simulate.
  const command = [process.execPath, 'local/start.ts', '--no-simulator', '--no-console'];
  const stopServer = await startServer(command, { url: baseUrl, environment });
  const groups = [`${domain}:administrator`, `${domain}:cvm`];
  const token = await issueLocalToken({ baseUrl, sub: 'alice', groups });
  const call = callAs(baseUrl, token);
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'local', credentials: localCredentials });
  const document = documentClient(client);
  const table = { name: local.tableName, document, deadline: patientDeadline };

  const list = rowLists.computations(domain);
  await call('POST', `/${domain}/computations`, { name: 'Survival after resection' });
  const [template] = await queryPrefix(table, list.rows.pk, listKeys.prefixes.row, { limit: 1 });
  if (!template) throw new Error('The service has not stored its first computation.');
  const rowOf = (number: number, status: string) => ({
    ...template,
    ...keyToWrite(listKeys.row(list.rows, number)),
    id: numberedId(number),
    status,
  });
  const { lastNumber } = await fill(table, domain, rows, { row: rowOf, isOwned: false });
  // The list that was filled contains the first computation too.
  for (const pk of openList(table, list).partitions.filter((each) => each.startsWith(logPrefix))) {
    await deleteItems(table, (await queryPartition(table, pk)).map(keyOfItem));
  }
  await deleteItems(table, [listKeys.counter(list.rows)]);
  await incrementBy(table, listKeys.counter(list.rows), lastNumber);

  const headers = { authorization: `Bearer ${token}` };
  const get = (path: string) => request('GET', `${baseUrl}/${domain}${path}`, { headers });
  const page = async (query: string) => {
    const { computations } = (await get(`/computations?limit=${limit}${query}`)) as { computations: unknown[] };
    if (computations.length < limit) throw new Error(`A page has ${computations.length} of ${limit} computations: ${query}`);
  };
  const post = (path: string, body?: unknown) =>
    request('POST', `${baseUrl}/${domain}${path}`, { headers, ...(body === undefined ? {} : { body }) });
  const ready = await readyComputations(table, call, domain, startsPerService);
  const started: { run: string; cvm: string }[] = [];
  let cvms = 0;
  const { body: newest } = await call('GET', `/${domain}/computations?limit=1`);
  const [some] = newest['computations'] as { id: string }[];
  return {
    name: 'this service',
    cases: {
      create: () => post('/computations', { name: 'Survival after resection' }),
      'read one': () => get(`/computations/${some?.id ?? ''}`),
      'first page': () => page(''),
      'page at 90 %': () => page(`&offset=${Math.floor(rows * 0.9)}`),
      'filtered page': () => page('&status=completed'),
      'total alone': () => get('/computations?limit=1'),
      'start of a run': async () => {
        const cvm = `cvm-${++cvms}`;
        const run = (await post(`/computations/${ready.pop() ?? ''}/run?cvm=${cvm}`)) as string;
        started.push({ run, cvm });
      },
      'report of its end': async () => {
        const { run, cvm } = started.pop() ?? { run: '', cvm: '' };
        await post(`/cvms/${cvm}/reports`, { reports: [agentEvent(run, 'Complete', 'Completed')] });
      },
    },
    stop: async () => {
      document.destroy();
      await stopServer();
      await engine.stop();
    },
  };
}
