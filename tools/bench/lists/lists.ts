import { parseArgs } from 'node:util';
import { startProxiedTable } from '../../../test/support/embedded-table.ts';
import { printTable } from '../print-table.ts';
import { measureChanges, measureQuiet, type MeasuredChange } from './changes.ts';
import { busyLog, limit, measurePages, repetitions, unfolded, type Measurement } from './pages.ts';
import { verdicts } from './verdicts.ts';

const usage = `Usage: npm run bench:lists -- [--delete [--api COUNT]] [SIZE ...]
       npm run bench:lists -- --changes [SIZE ...]

Measures pages of lists with SIZE members: calls in a row, read units, processor time.

  SIZE            the members of a list. Default: 1000 100000. From 50 million on, without the lists of owners.
  --delete        also fills a list of the last SIZE and deletes all its members, and reads the first page then. Not from 50 million on
  --api COUNT     of these members, so many more are created and deleted through the API, 100,000 in some ten minutes. Default: 100
  --changes       instead, measures the write units of changes of SIZE computations, among the newest and anywhere, and of one create
                  a minute. Default: 100000. Takes some five minutes`;

/** A list of this size is filled in some minutes, if it has no owners. */
const huge = 50_000_000;

interface Options {
  sizes: number[];
  changes: boolean;
  deletes: { throughApi: number } | undefined;
}

function optionsFrom(args: string[]): Options {
  try {
    const { positionals, values } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        changes: { type: 'boolean', default: false },
        delete: { type: 'boolean' },
        api: { type: 'string', default: '100' },
      },
    });
    const { changes } = values;
    const sizes = positionals.length > 0 ? positionals.map(Number) : changes ? [100_000] : [1_000, 100_000];
    const throughApi = Number(values.api);
    if ([...sizes, throughApi].every((size) => Number.isInteger(size) && size > 0)) {
      return { sizes, changes, deletes: values.delete ? { throughApi } : undefined };
    }
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
const { sizes, changes, deletes } = optionsFrom(process.argv.slice(2));
const proxied = await startProxiedTable();
try {
  const pages: Measurement[] = [];
  for (const [index, size] of changes ? [] : sizes.entries()) {
    const isOwned = size < huge;
    const isDeleted = isOwned && index === sizes.length - 1;
    pages.push(...(await measurePages(proxied, size, { isOwned, deletes: isDeleted ? deletes : undefined })));
  }
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
