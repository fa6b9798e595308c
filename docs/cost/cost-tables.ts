import { billOf, billedMilliseconds, titleOf } from './call-bill.ts';
import { consoleHourBills } from './console-bill.ts';
import { markdownTable } from './markdown-table.ts';
import type { Measured, Measurement } from './measured.ts';
import { dollars, prices, type Bill } from './prices.ts';
import { runBills } from './run-bill.ts';
import { stageBills } from './stage-bill.ts';
import { monthBills } from './tenant-bill.ts';
import { tenants } from './tenants.ts';
import { waitingCvmBill, watchedHourBill } from './waiting-bill.ts';

const minutesOfRuns = [5, 60, 480];

export function callTable(measurements: Measurement[], { stage }: Measured): string {
  const rows = measurements.map((each) => {
    const bill = billOf(each, stage);
    return [
      each.endpoint === undefined ? '' : String(each.endpoint),
      titleOf(each),
      String(each.roundTrips),
      String(each.readUnits),
      String(each.writeUnits),
      billedMilliseconds(each, stage).toFixed(0),
      (dollars(bill) * 1e6).toFixed(2),
    ];
  });
  return markdownTable(['#', 'call', 'round trips', 'read units', 'write units', 'ms', '$ per million'], rows);
}

export function waitingTable(measured: Measured): string {
  const rows: [string, Bill][] = [
    ['an hour of a client that watches a quiet computation', watchedHourBill(measured)],
    ['a month of a CVM that waits for commands all the time', waitingCvmBill(measured)],
  ];
  return markdownTable(
    ['what', 'requests', 'read units', 'write units', '$'],
    rows.map(([what, bill]) => [
      what,
      ...(['HTTP API request', 'DynamoDB read unit', 'DynamoDB write unit'] as const).map((unit) =>
        (bill[unit] ?? 0).toLocaleString('en'),
      ),
      dollars(bill).toFixed(4),
    ]),
  );
}

export function consoleTable(measured: Measured): string {
  const rows = Object.entries(consoleHourBills(measured)).map(([screen, bill]) => [
    screen,
    (bill['HTTP API request'] ?? 0).toLocaleString('en'),
    dollars(bill).toFixed(4),
    (dollars(bill) * workingHoursPerMonth).toFixed(2),
  ]);
  return markdownTable(['screen', 'requests an hour', '$ an hour', `$ for ${workingHoursPerMonth} h`], rows);
}

/** About a month of somebody who never closes the page at work. */
const workingHoursPerMonth = 160;

export function runTable(measured: Measured): string {
  const columns = minutesOfRuns.map((minutes) => runBills(measured, minutes));
  return summedTable(
    ['cost', ...minutesOfRuns.map((minutes) => (minutes < 60 ? `${minutes} minutes` : `${minutes / 60} h`))],
    columns.map((bills) => new Map(Object.entries(bills).map(([what, bill]) => [what, dollars(bill) * 1000]))),
  );
}

export function tenantTable(): string {
  return markdownTable(
    ['tenant', 'computations', 'runs', 'minutes each', 'uploads', 'MB each', 'page views'],
    tenants.map(({ name, ...each }) => [
      name,
      ...[each.computations, each.runs, each.minutesPerRun, each.uploads, each.megabytesPerUpload, each.pageViews].map((count) =>
        count.toLocaleString('en'),
      ),
    ]),
  );
}

export function monthTable(measured: Measured): string {
  const columns = tenants.map((tenant) => monthBills(measured, tenant));
  return summedTable(
    ['dollars', ...tenants.map(({ name }) => name)],
    columns.map((bills) => new Map(Object.entries(bills).map(([what, bill]) => [what, dollars(bill)]))),
  );
}

export function billTable(bills: Record<string, Bill>): string {
  return summedTable(['dollars', 'per month'], [inDollars(bills)]);
}

/** The months of a stage that nobody uses, by its age. */
export function stageTable(measured: Measured): string {
  const headings = ['first year', 'second year', 'from the third year on'];
  return summedTable(
    ['dollars per month', ...headings],
    headings.map((_, rotations) => inDollars(stageBills(measured, rotations))),
  );
}

function inDollars(bills: Record<string, Bill>): Map<string, number> {
  return new Map(Object.entries(bills).map(([what, bill]) => [what, dollars(bill)]));
}

/** One row per cause, one column per case, and the totals. */
function summedTable(heading: string[], columns: Map<string, number>[]): string {
  const causes = [...(columns[0]?.keys() ?? [])];
  const amount = (value: number) => value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const rows = causes.map((cause) => [cause, ...columns.map((column) => amount(column.get(cause) ?? 0))]);
  const sums = columns.map((column) => amount([...column.values()].reduce((sum, value) => sum + value, 0)));
  return markdownTable(heading, [...rows, ['**total**', ...sums.map((sum) => `**${sum}**`)]]);
}

export function priceTable(): string {
  const rows = Object.entries(prices).map(([what, price]) => {
    const [times, per] = price < 0.0001 ? [1e6, 'million'] : [1, 'unit'];
    return [what, (price * times).toLocaleString('en', { maximumFractionDigits: 4 }), per];
  });
  return markdownTable(['price', '$', 'per'], rows);
}

/** Round trips, read units and write units of each call without a key, of the first with a key, and of its repeat. */
export function keyTable({ functions, keyed }: Measured): string {
  const units = (call: Measurement | undefined) =>
    call ? [call.roundTrips, call.readUnits, call.writeUnits].map(String) : ['', '', ''];
  const rows = functions.flatMap((call) => {
    const [first, repeat] = (['first', 'repeat'] as const).map((key) =>
      keyed.find((each) => each.name === call.name && each.case === call.case && each.key === key),
    );
    return first ? [[String(call.endpoint ?? ''), titleOf(call), ...units(call), ...units(first), ...units(repeat)]] : [];
  });
  const of = (whose: string) => ['round trips', 'read units', 'write units'].map((what) => `${what}${whose}`);
  return markdownTable(['#', 'call', ...of(''), ...of(', first'), ...of(', repeat')], rows);
}
