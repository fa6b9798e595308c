import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { printTable } from '../print-table.ts';
import { startOurs } from './ours.ts';
import { startPrefect } from './prefect.ts';
import { startRestate } from './restate.ts';
import {
  callers,
  caseNames,
  millisecondsPerRound,
  rounds,
  runsPerRound,
  warmUpInMilliseconds,
  type CaseName,
  type Service,
} from './service.ts';

const usage = `Usage: npm run bench:http -- [--rows 1000] [--prefect DIRECTORY] [--restate DIRECTORY]

Measures requests over HTTP at 1, 4 and 16 callers, beside Prefect and Restate in the same run, in turns. Each service has processes
of its own. This one and Prefect are filled directly in their stores, and Restate over HTTP, which takes longer.

Without peers, it also says whether this service answers as many first pages as it should.

  --rows ROWS          the computations of a domain, the flow runs of Prefect, the invocations of Restate. Default: 1000
  --prefect DIRECTORY  a virtual environment with Prefect:
                       python3 -m venv DIRECTORY && DIRECTORY/bin/pip install prefect==3.8.8 fastapi==0.139.0
  --restate DIRECTORY  npm install --prefix DIRECTORY @restatedev/restate-server@1.7.12 @restatedev/restate-sdk@1.17.2
                       Without a directory, its service is not measured.`;

/** First pages a second at 16 callers: five times what the first form of lists answered with 100,000 rows, on two cores that nothing else used. */
const leastFirstPages = 5 * 64;

interface Row {
  case: CaseName;
  callers: number;
  [figure: string]: string | number;
}

interface Options {
  rows: number;
  prefect: string | undefined;
  restate: string | undefined;
}

function optionsFrom(args: string[]): Options {
  try {
    const { values } = parseArgs({
      args,
      options: { rows: { type: 'string', default: '1000' }, prefect: { type: 'string' }, restate: { type: 'string' } },
    });
    const rows = Number(values.rows);
    if (Number.isInteger(rows) && rows > 0) return { rows, prefect: values.prefect, restate: values.restate };
  } catch {
    // The usage says it.
  }
  console.error(usage);
  process.exit(2);
}

/** How many callers send requests at once, for how long, or up to how many of them. */
interface Extent {
  at: number;
  milliseconds?: number;
  count?: number;
}

/** Sends requests by several callers at once. @returns milliseconds of each that succeeded, and of all; and how many failed */
async function send(one: () => Promise<unknown>, { at, milliseconds = Infinity, count = Infinity }: Extent) {
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
  return { times, duration: performance.now() - begun, failed };
}

async function measure(services: readonly Service[], name: CaseName, at: number): Promise<Row> {
  const figures = services.map(() => ({ times: [] as number[], duration: 0, failed: 0 }));
  const isOfRuns = name === 'start of a run' || name === 'report of its end';
  for (let round = 0; round < rounds; round++) {
    for (const [index, service] of services.entries()) {
      const one = service.cases[name];
      if (!one) continue;
      if (!isOfRuns && round === 0) await send(one, { at, milliseconds: warmUpInMilliseconds });
      const extent = isOfRuns ? { count: runsPerRound } : { milliseconds: millisecondsPerRound };
      const { times, duration, failed } = await send(one, { at, ...extent });
      const figure = figures[index];
      if (!figure) continue;
      figure.times.push(...times);
      figure.duration += duration;
      figure.failed += failed;
    }
  }
  const row: Row = { case: name, callers: at };
  const medians = figures.map(({ times }) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0);
  for (const [index, { name: service }] of services.entries()) {
    const { times, duration, failed } = figures[index] ?? { times: [], duration: 0, failed: 0 };
    if (duration === 0) continue; // it has no such case
    row[`${service}, ms`] = Number((medians[index] ?? 0).toFixed(1));
    row[`${service}, a second`] = Math.round((times.length * 1_000) / duration);
    row[`${service}, failed`] = failed;
  }
  const [ours, ...peers] = figures.map(({ times, duration }) => times.length / duration);
  for (const [index, rate] of peers.entries()) {
    row[`times ${services[index + 1]?.name ?? ''}`] = ours && rate ? Number((ours / rate).toFixed(2)) : '';
  }
  return row;
}

function requireProgram(name: string, program: string | undefined): void {
  if (program === undefined || existsSync(program)) return;
  console.error(`${name} is not installed: there is no ${program}.\n\n${usage}`);
  process.exit(2);
}

const { rows, prefect, restate } = optionsFrom(process.argv.slice(2));
requireProgram('Prefect', prefect && join(prefect, 'bin/prefect'));
requireProgram('Restate', restate && join(restate, 'node_modules/.bin/restate-server'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const services: Service[] = [];
try {
  console.error('Fills this service ...');
  services.push(await startOurs(rows));
  if (prefect !== undefined) {
    console.error('Fills Prefect ...');
    services.push(await startPrefect(prefect, rows));
  }
  if (restate !== undefined) {
    console.error('Fills Restate over HTTP, which takes minutes at 100,000 rows ...');
    services.push(await startRestate(restate, rows));
  }
  console.log(
    `${rows.toLocaleString('en')} rows, medians of ${rounds} rounds in turns. Load of the machine before: ${loadavg()[0]?.toFixed(1) ?? ''}\n`,
  );
  const table: Row[] = [];
  const toMeasure = caseNames.flatMap((name) => callers.map((at) => ({ name, at })));
  for (const [index, { name, at }] of toMeasure.entries()) {
    console.error(`${index + 1} of ${toMeasure.length}: ${name}, ${at} at once`);
    table.push(await measure(services, name, at));
  }
  printTable(table);
  // Peers take a part of the machine also while they have nothing to do.
  if (services.length === 1) {
    const most = Math.max(...callers);
    const firstPages = Number(table.find((row) => row.case === 'first page' && row.callers === most)?.['this service, a second']);
    const verdict = firstPages >= leastFirstPages ? 'holds ' : 'BROKEN';
    console.log(
      `${verdict}  first pages by ${most} callers: ${firstPages} a second (at least ${leastFirstPages}, at 100,000 rows)`,
    );
  }
  const failed = table.filter((row) => row['this service, failed'] !== 0);
  if (failed.length > 0) {
    console.error(`This service failed requests of ${failed.length} cases.`);
    process.exitCode = 1;
  }
} finally {
  for (const service of services) await service.stop();
}
