import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { issueLocalToken } from 'computation-management-client';
import { numberedId } from 'computation-management-formats/identifiers';
import { startDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { localCredentials, local } from '../../local/machine/environment.ts';
import { keyToWrite, listKeys } from '../../shared/table/keys.ts';
import { openList, rowLists, rowsOf } from '../../shared/table/row-lists.ts';
import { documentClient, queryPrefix, type Table } from '../../shared/table/table.ts';
import { incrementBy, putItems } from '../../shared/table/writes.ts';
import { readyComputations } from '../support/builders-ready-computations.ts';
import { patientDeadline } from '../support/embedded-table.ts';
import { agentEvent } from '../support/lifecycle-stack.ts';
import { type Call, callAs } from '../support/ready-computation.ts';
import { startService } from '../support/service-process.ts';

const usage = `Usage: npm run bench:http -- [--rows 1000]

Measures requests over HTTP by 1, 4 and 16 callers at once. The service and its table have processes of their own.

  --rows ROWS  the computations of the domain, written directly into its table. Default: 1000`;

const callers = [1, 4, 16] as const;
const measuredInMilliseconds = 6_000;
/** The milliseconds at the start of a case in which requests are not measured, because a new process is several times slower. */
const warmUpInMilliseconds = 1_000;
/**
 * The number of requests in a case that starts or reports runs, in place of a time, because a run can be started and reported
 * once.
 */
const runsPerCase = 144;
const domain = 'bench';
const rowsOfPage = 10;

function rowsFrom(args: string[]): number {
  try {
    const rows = Number(parseArgs({ args, options: { rows: { type: 'string', default: '1000' } } }).values.rows);
    if (Number.isInteger(rows) && rows > 0) return rows;
  } catch {
    // The usage says it.
  }
  console.error(usage);
  process.exit(2);
}

/** The number of computations with each status among a thousand. */
const statuses = { completed: 620, created: 180, failed: 150, cancelled: 40, running: 9, stopping: 1 };
const statusOf = Object.entries(statuses).flatMap(([status, count]) => Array<string>(count).fill(status));

/**
 * Writes computations directly into the table of a running service, and builds their list. Every tenth number is left out, as if its
 * computation had been deleted. @param rows the number of computations
 */
async function fillDomain(table: Table, call: Call, rows: number): Promise<void> {
  const list = rowLists.computations(domain);
  await call('POST', `/${domain}/computations`, { name: 'Survival after resection' });
  const [template] = await queryPrefix(table, list.rows.pk, listKeys.prefixes.row, { limit: 1 });
  if (!template) throw new Error('The service has not stored its first computation.');
  const numbers = Array.from({ length: Math.ceil(rows / 0.9) + 1 }, (_, index) => index + 2);
  const filled = numbers.filter((number) => number % 10 !== 0).slice(0, rows - 1);
  const items = filled.map((number) => ({
    ...template,
    ...keyToWrite(listKeys.row(list.rows, number)),
    id: numberedId(number),
    status: statusOf[(number * 7_919) % statusOf.length], // in no order
  }));
  await putItems(table, items);
  await incrementBy(table, listKeys.counter(list.rows), filled.at(-1) ?? 1);
  await openList(table, list).rebuild(rowsOf(table, list));
}

/**
 * Returns a function for each measured case that sends one request. Cases that read come first, because items that were just
 * created are read from the list's log of changes for some seconds.
 * @param ready the computations of which runs can be started
 */
async function casesOf(call: Call, rows: number, ready: string[]): Promise<Record<string, () => Promise<unknown>>> {
  const request = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, `/${domain}${path}`, body);
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const page = async (query: string) => {
    const { computations } = (await request('GET', `/computations?limit=${rowsOfPage}${query}`)) as { computations: unknown[] };
    if (computations.length < rowsOfPage)
      throw new Error(`A page has ${computations.length} of ${rowsOfPage} computations: ${query}`);
  };
  const { computations } = (await request('GET', '/computations?limit=1')) as { computations: { id: string }[] };
  const started: { run: string; cvm: string }[] = [];
  let cvms = 0;
  return {
    'read one': () => request('GET', `/computations/${computations[0]?.id ?? ''}`),
    'first page': () => page(''),
    'page at 90 %': () => page(`&offset=${Math.floor(rows * 0.9)}`),
    'filtered page': () => page('&status=completed'),
    'total alone': () => request('GET', '/computations?limit=1'),
    create: () => request('POST', '/computations', { name: 'Survival after resection' }),
    'start of a run': async () => {
      const cvm = `cvm-${++cvms}`;
      const run = (await request('POST', `/computations/${ready.pop() ?? ''}/run?cvm=${cvm}`)) as unknown as string;
      started.push({ run, cvm });
    },
    'report of its end': async () => {
      const { run, cvm } = started.pop() ?? { run: '', cvm: '' };
      await request('POST', `/cvms/${cvm}/reports`, { reports: [agentEvent(run, 'Complete', 'Completed')] });
    },
  };
}

/**
 * Sends requests by several callers at once, for some time or until a number of requests. Returns the median time, the requests a
 * second and the number of failed requests. @param at the number of callers
 */
async function send(one: () => Promise<unknown>, at: number, { milliseconds = Infinity, count = Infinity }) {
  const times: number[] = [];
  let failed = 0;
  let left = count;
  const begun = performance.now();
  const caller = async () => {
    while (left-- > 0 && performance.now() - begun < milliseconds) {
      const start = performance.now();
      await one().then(
        () => times.push(performance.now() - start),
        () => (failed += 1),
      );
    }
  };
  await Promise.all(Array.from({ length: at }, caller));
  const median = times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  const perSecond = Math.round((times.length * 1_000) / (performance.now() - begun));
  return { 'median, ms': Number(median.toFixed(1)), 'a second': perSecond, failed };
}

async function measure(name: string, one: () => Promise<unknown>, at: number) {
  const isOfRuns = name === 'start of a run' || name === 'report of its end';
  if (!isOfRuns) await send(one, at, { milliseconds: warmUpInMilliseconds });
  const extent = isOfRuns ? { count: runsPerCase } : { milliseconds: measuredInMilliseconds };
  return { case: name, callers: at, ...(await send(one, at, extent)) };
}

const rows = rowsFrom(process.argv.slice(2));
const load = loadavg()[0]?.toFixed(1) ?? '';
const engine = await startDynamoDb();
const service = await startService([], ':', { environment: { DYNAMODB_ENDPOINT: engine.endpoint } });
try {
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'local', credentials: localCredentials });
  const table: Table = { name: local.tableName, document: documentClient(client), deadline: patientDeadline };
  const groups = [`${domain}:administrator`, `${domain}:cvm`];
  const call = callAs(service.baseUrl, await issueLocalToken({ baseUrl: service.baseUrl, sub: 'alice', groups }));
  await fillDomain(table, call, rows);
  const ready = await readyComputations(table, call, domain, callers.length * runsPerCase);
  client.destroy();
  const measured = [];
  for (const [name, one] of Object.entries(await casesOf(call, rows, ready))) {
    for (const at of callers) measured.push(await measure(name, one, at));
  }
  console.log(`${rows.toLocaleString('en')} rows. Load of the machine before: ${load}\n`);
  console.table(measured);
  if (measured.some(({ failed }) => failed > 0)) process.exitCode = 1;
} finally {
  await service.end('SIGTERM');
  await engine.stop();
}
