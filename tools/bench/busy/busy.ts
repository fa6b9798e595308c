import { isDeepStrictEqual, parseArgs } from 'node:util';
import { cpus, loadavg } from 'node:os';
import { printTable } from '../print-table.ts';
import { startBusyService, type ChangeKind } from './busy-service.ts';
import { offer, warmUpInSeconds, type Figures } from './offer.ts';

const usage = `Usage: npm run bench:busy -- [--seconds 10] [--runs 10] [RATE ...]

Makes RATE changes a second in one domain over HTTP, through the service on this machine: creates of computations, starts of runs,
and reports that end runs. Each request is sent when it is due, whether or not earlier ones are answered, and its time counts from
then. At the end, compares what the lists count with what was made.

  RATE               the changes offered a second. Default: 150
  --seconds SECONDS  how long each rate is offered, after ${warmUpInSeconds} seconds that are not measured. Default: 10
  --runs PERCENT     the share of starts, up to 50; as many are ends of runs. Default: 10`;

/** What the service should bear on a machine of two cores. */
const bound = { perSecond: 150, p95InMilliseconds: 500 };

interface Options {
  rates: number[];
  seconds: number;
  percent: number;
}

function optionsFrom(args: string[]): Options {
  try {
    const { positionals, values } = parseArgs({
      args,
      allowPositionals: true,
      options: { seconds: { type: 'string', default: '10' }, runs: { type: 'string', default: '10' } },
    });
    const rates = positionals.length > 0 ? positionals.map(Number) : [bound.perSecond];
    const [seconds, percent] = [Number(values.seconds), Number(values.runs)];
    if ([...rates, seconds].every((value) => value > 0) && percent >= 0 && percent <= 50) return { rates, seconds, percent };
  } catch {
    // The usage says it.
  }
  console.error(usage);
  process.exit(2);
}

/** Returns the kinds of so many changes, evenly mixed. */
function kindsOf(count: number, percent: number): ChangeKind[] {
  const pattern = Array.from({ length: 100 }, (): ChangeKind => 'create');
  for (let turn = 0; turn < percent; turn++) {
    pattern[Math.floor((turn * 100) / percent)] = 'start';
    pattern[Math.floor(((turn + 0.5) * 100) / percent)] = 'end';
  }
  return Array.from({ length: count }, (_, index) => pattern[index % pattern.length] ?? 'create');
}

function verdict({ offered, 'a second': done, failed, p95 }: Figures): boolean {
  const isBorne = failed === 0 && p95 < bound.p95InMilliseconds && done >= 0.98 * offered;
  console.log(`${isBorne ? 'holds ' : 'BROKEN'}  ${offered} a second: ${done} made, ${failed} failed, p95 ${p95} ms`);
  return isBorne;
}

const { rates, seconds, percent } = optionsFrom(process.argv.slice(2));
const plans = rates.map((rate) => ({ rate, kinds: kindsOf(Math.ceil(rate * (seconds + warmUpInSeconds)), percent) }));
const starts = plans.flatMap(({ kinds }) => kinds).filter((kind) => kind === 'start').length;
const load = loadavg()[0]?.toFixed(1) ?? '';
const service = await startBusyService(starts);
try {
  console.log(`${100 - 2 * percent} % creates, ${percent} % starts and ${percent} % ends of runs in one domain, over HTTP.`);
  console.log(`Milliseconds from when each was due. Load of the machine before: ${load}, on ${cpus().length} processors.\n`);
  const rows: Figures[] = [];
  for (const { rate, kinds } of plans) rows.push(await offer(rate, kinds, service.changes));
  printTable(rows);
  console.log(`\nEach rate should be made without failures, with a p95 under ${bound.p95InMilliseconds} ms:\n`);
  const { made, listed } = await service.count();
  const agrees = isDeepStrictEqual(listed, made);
  const verdicts = [...rows.map(verdict), agrees];
  console.log(`${agrees ? 'holds ' : 'BROKEN'}  the lists count ${JSON.stringify(listed)}; made were ${JSON.stringify(made)}`);
  if (verdicts.includes(false)) process.exitCode = 1;
} finally {
  await service.stop();
}
