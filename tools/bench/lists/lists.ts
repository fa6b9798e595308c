import { parseArgs } from 'node:util';
import { type MeasuredChange, measureChanges, measureQuiet } from './changes.ts';
import { rareStatus } from './fill.ts';
import { type Measurement, busyLog, limit, measurePages, repetitions, unfolded } from './pages.ts';
import { startProxiedTable } from '../../../test/support/embedded-table.ts';
import { printTable } from '../print-table.ts';

interface Verdict {
  what: string;
  holds: boolean;
}

interface Bounds {
  calls: number;
  units: number;
  /** The most processor time of a page, as a multiple of that of the page that it is compared with. */
  cpu?: number;
}

/** Compares measurements with the bounds of the design (docs/adr/0001-lists.md). Returns for each bound whether it holds. */
function verdicts(pages: readonly Measurement[], changes: readonly MeasuredChange[], quiet: number | undefined): Verdict[] {
  const sizes = [...new Set(pages.map(({ size }) => size))];
  const ofQuiet = { what: `one create a minute: ${quiet} write units for folding (at most 5)`, holds: (quiet ?? 0) <= 5 };
  return [
    ...sizes.flatMap((size) => ofSize(pages, size, Math.min(...sizes))),
    ...changes.map(ofChange),
    ...(quiet === undefined ? [] : [ofQuiet]),
  ];
}

function ofSize(pages: readonly Measurement[], size: number, shortest: number): Verdict[] {
  const find = (what: string, offset = 0, of = size) =>
    pages.find((each) => each.size === of && each.what === what && each.offset === offset);
  const found: Verdict[] = [];
  for (const what of ['all', 'completed']) {
    const base = find(what, 0, shortest);
    found.push(...check(`first page of ${name(size)}, ${what}`, find(what), { calls: 1, units: 8, cpu: 1.5 }, base));
  }
  found.push(...check(`first page of ${name(size)}, 1 in 1,000`, find(rareStatus), { calls: 3, units: 30 }));
  found.push(...check(`statistics of ${name(size)}`, find('statistics'), { calls: 1, units: 12 }));
  for (const page of pages.filter((each) => each.size === size && each.what === 'all' && each.offset > 5_000)) {
    const bounds = { calls: 4, units: 20, cpu: 1.5 };
    found.push(...check(`offset ${name(page.offset)} of ${name(size)}`, page, bounds, find('all', 5_000)));
  }
  return found;
}

function check(what: string, page: Measurement | undefined, bounds: Bounds, base?: Measurement): Verdict[] {
  if (!page) return [];
  const ratio = bounds.cpu === undefined || !base ? 0 : page.cpu / base.cpu;
  const holds = page.sequentialCalls <= bounds.calls && page.readUnits <= bounds.units && ratio <= (bounds.cpu ?? 0);
  const units = `${page.sequentialCalls} calls in a row (at most ${bounds.calls}), ${page.readUnits} read units (at most ${bounds.units})`;
  const compared = ratio === 0 ? '' : `, ${ratio.toFixed(2)} times the processor time (at most ${bounds.cpu ?? 0})`;
  return [{ what: `${what}: ${units}${compared}`, holds }];
}

/** The most write units that a change of a computation may have, with those for the lists of owners. */
const mostUnits = { create: 12.4, other: 12.6, anywhere: 14.6 };

function ofChange({ change, where, size, writeUnits }: MeasuredChange): Verdict {
  const most = mostUnits[change === 'create' ? 'create' : where === 'anywhere' ? 'anywhere' : 'other'];
  return {
    what: `${change} of ${name(size)} computations, ${where}: ${writeUnits} write units (at most ${most})`,
    holds: writeUnits <= most,
  };
}

function name(count: number): string {
  return count.toLocaleString('en');
}

const usage = `Usage: npm run bench:lists -- [SIZE ...]
       npm run bench:lists -- --changes [SIZE ...]

Measures pages of lists with SIZE members: calls in a row, read units, processor time.

  SIZE       the members of a list. Default: 1000 100000
  --changes  instead, measures the write units of changes of SIZE computations, among the newest and anywhere, and of one create
             a minute. Default: 100000. Takes some five minutes`;

interface Options {
  sizes: number[];
  changes: boolean;
}

function optionsFrom(args: string[]): Options {
  try {
    const { positionals, values } = parseArgs({
      args,
      allowPositionals: true,
      options: { changes: { type: 'boolean', default: false } },
    });
    const { changes } = values;
    const sizes = positionals.length > 0 ? positionals.map(Number) : changes ? [100_000] : [1_000, 100_000];
    if (sizes.every((size) => Number.isInteger(size) && size > 0)) return { sizes, changes };
  } catch {
    // The usage says it.
  }
  console.error(usage);
  process.exit(2);
}

// Only the errors: a change from a state that its member does not have would be one.
process.env['LOG_LEVEL'] ??= 'ERROR';
process.env['STAGE'] ??= 'bench';
process.env['METRICS_NAMESPACE'] ??= '';
const { sizes, changes } = optionsFrom(process.argv.slice(2));
const proxied = await startProxiedTable();
try {
  const pages: Measurement[] = [];
  for (const size of changes ? [] : sizes) pages.push(...(await measurePages(proxied, size)));
  if (pages.length > 0) {
    console.log(`\nPages of ${limit}, with ${unfolded} changes that are not folded yet. Milliseconds, of the processor and`);
    console.log(
      `in all, are means and medians of ${repetitions} calls directly to the engine. A busy log has ${busyLog.folded} folded entries`,
    );
    console.log(`and ${busyLog.unfolded} others.\n`);
    printTable(pages);
  }
  const measured: MeasuredChange[] = [];
  for (const size of changes ? sizes : []) measured.push(...(await measureChanges(proxied, size)));
  if (measured.length > 0) {
    console.log('\nChanges, in write units with their row (2 units) and their share of the folds and of what these delete\n');
    printTable(measured);
  }
  const quiet = changes ? await measureQuiet(proxied) : undefined;
  for (const { what, holds } of verdicts(pages, measured, quiet)) {
    console.log(`${holds ? 'holds ' : 'BROKEN'}  ${what}`);
    if (!holds) process.exitCode = 1;
  }
} finally {
  await proxied.stop();
}
