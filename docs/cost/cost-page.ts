import { routes } from '../../shared/endpoints/endpoints.ts';
import { assumed, billOf, billedMilliseconds, titleOf } from './call-bill.ts';
import { markdownTable } from './markdown-table.ts';
import type { Measured, Measurement } from './measured.ts';
import { dollars, prices, pricesAsOf, type Bill } from './prices.ts';
import { tenants } from './tenants.ts';
import { transitionsOf } from './transitions.ts';
import { behaviour, monthBills, runBills, stageBills, stopBill } from './usage-bill.ts';

const byApi = new Set<string>(routes.map(({ name }) => name));
const minutesOfRuns = [5, 60, 480];

/** docs/cost.md, from what was measured. */
export function costPage(measured: Measured): string {
  const endpoints = measured.functions.filter(({ name }) => byApi.has(name));
  const others = measured.functions.filter(({ name }) => !byApi.has(name));
  const stage = stageBills(measured);
  return `# What it costs

Made by \`npm run docs:cost\`; change the figures where they come from, in \`docs/cost/\`. Dollars; list prices of us-east-1 and
eu-west-1, ${pricesAsOf} (at the end; eu-central-1 is some 10 to 20 % dearer), no free tiers, no taxes. Read and write units
and round trips are measured, on the embedded engine, with items of a kilobyte at most. Times on AWS, sizes of logs and what
tenants do are assumed, and said.

## A million calls of each endpoint

${callTable(endpoints, measured)}

The price is that of: the HTTP API, the function (request and time, ${measured.stage.memoryInMegabytes} MB ARM64), units of the table, requests to
storage, log, traces. A caller who is refused costs less. Time is assumed: ${assumed.computeInMilliseconds} ms of computing (3 to 5 ms of processor time were
measured, and 512 MB have 0.29 of a processor), ${assumed.tableRoundTripInMilliseconds} ms for each round trip to the table, ${assumed.contentRequestInMilliseconds} ms for each request to storage, and
${assumed.coldStartInMilliseconds} ms for one cold start of 300 ms in a hundred calls. Logged are ${assumed.functionLogInBytes} bytes by the function and ${assumed.accessLogInBytes} by the API; ${assumed.tracedShare * 100} % of the
calls are traced. A request beyond 512 KB counts as several; content by presigned links never passes the API.

## A million calls of the functions that AWS calls itself

${callTable(others, measured)}

## A run

Dollars for a thousand runs, by how long each lasts. The state machine makes ${transitionsOf('run')} transitions for a run of any length, start and
end included, and ${transitionsOf('stop')} for a stop: it waits by task token, and neither heartbeats nor polling add any. What grows with time is
the CVM: it polls for commands every ${behaviour.pollInSeconds} s, also for ${behaviour.idleMinutesPerRun} minutes around its run, and sends a heartbeat every ${behaviour.heartbeatInSeconds} s.

${runTable(measured)}

A stop adds $${(dollars(stopBill(measured)) * 1000).toFixed(2)} for a thousand. A CVM that polls all month without a run costs $${idleCvm(measured)}; one that polls every 30 s, a
sixth of that.

## A month of a tenant

${tenantTable()}

Each computation gets ${behaviour.keysPerComputation} keys and one update, and is deleted in the end; a run has ${behaviour.eventsPerRun} events beside its acceptance and end, and ${behaviour.stoppedShare * 100} %
are stopped; somebody asks for the status every ${behaviour.statusInSeconds} s while one lasts. A page view reads a list, a computation, its events,
its status and the statistics. Uploads are kept ${tenants[0]?.monthsKept ?? 0} months and downloaded once.

${monthTable(measured)}

## A month of a stage, whoever uses it

${billTable(stage)}

Metrics by route (${measured.stage.routes} routes, 6 metrics each) are charged for routes that were called in the month; without
\`detailedMetricsEnabled\` they are gone, and with them the alarm of each endpoint. Left out: SQS, SNS and EventBridge (cents), looking
at the dashboard's log queries ($0.005 for a GB searched), stored logs ($0.03 for a GB and month), Cognito ($0.015 for an active user
above 10,000), and KMS for the table's key.

## Prices

${priceTable()}
`;
}

function callTable(measurements: Measurement[], { stage }: Measured): string {
  const rows = measurements.map((each) => {
    const bill = billOf(each, byApi.has(each.name), stage.memoryInMegabytes);
    return [
      each.endpoint === undefined ? '' : String(each.endpoint),
      titleOf(each),
      String(each.roundTrips),
      String(each.readUnits),
      String(each.writeUnits),
      String(billedMilliseconds(each)),
      (dollars(bill) * 1e6).toFixed(2),
    ];
  });
  return markdownTable(['#', 'call', 'round trips', 'read units', 'write units', 'ms', '$ per million'], rows);
}

function runTable(measured: Measured): string {
  const columns = minutesOfRuns.map((minutes) => runBills(measured, minutes));
  return summedTable(
    ['what', ...minutesOfRuns.map((minutes) => (minutes < 60 ? `${minutes} minutes` : `${minutes / 60} h`))],
    columns.map((bills) => new Map(Object.entries(bills).map(([what, bill]) => [what, dollars(bill) * 1000]))),
  );
}

function idleCvm(measured: Measured): string {
  const minutesPerMonth = 30 * 24 * 60;
  const polling = runBills(measured, minutesPerMonth - behaviour.idleMinutesPerRun)[`polling every ${behaviour.pollInSeconds} s`];
  return dollars(polling ?? {}).toFixed(2);
}

function tenantTable(): string {
  return markdownTable(
    ['a month', 'computations', 'runs', 'minutes each', 'uploads', 'MB each', 'page views'],
    tenants.map(({ name, ...each }) => [
      name,
      ...[each.computations, each.runs, each.minutesPerRun, each.uploads, each.megabytesPerUpload, each.pageViews].map((count) =>
        count.toLocaleString('en'),
      ),
    ]),
  );
}

function monthTable(measured: Measured): string {
  const columns = tenants.map((tenant) => monthBills(measured, tenant));
  return summedTable(
    ['dollars', ...tenants.map(({ name }) => name)],
    columns.map((bills) => new Map(Object.entries(bills).map(([what, bill]) => [what, dollars(bill)]))),
  );
}

function billTable(bills: Record<string, Bill>): string {
  return summedTable(['dollars', 'a month'], [new Map(Object.entries(bills).map(([what, bill]) => [what, dollars(bill)]))]);
}

/** A row for each cause, a column for each case, and the sums. */
function summedTable(heading: string[], columns: Map<string, number>[]): string {
  const causes = [...(columns[0]?.keys() ?? [])];
  const amount = (value: number) => value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const rows = causes.map((cause) => [cause, ...columns.map((column) => amount(column.get(cause) ?? 0))]);
  const sums = columns.map((column) => amount([...column.values()].reduce((sum, value) => sum + value, 0)));
  return markdownTable(heading, [...rows, ['**all**', ...sums.map((sum) => `**${sum}**`)]]);
}

function priceTable(): string {
  const rows = Object.entries(prices).map(([what, price]) => {
    const [times, per] = price < 0.0001 ? [1e6, 'million'] : [1, 'one'];
    return [what, (price * times).toLocaleString('en', { maximumFractionDigits: 4 }), per];
  });
  return markdownTable(['price of', '$', 'for'], rows);
}
