import {
  type Beside,
  changesOfProduction,
  p95,
  type SimulatedEndpoint,
  simulateHotDomain,
} from '../../test/support/hot-domain.ts';
import { printTable } from './print-table.ts';

/**
 * Simulates 5,000 changes a second in one domain beside ten a second in a quiet domain, in virtual time: a model of the route's
 * bucket of API Gateway, of Lambda's environments and of conflicts of 15 ms, with the service's own limit, leases and retries.
 * Prints how the hot domain affects the quiet one.
 */
const changesPerSecond = 5_000;
const ramps = [10_000, 1_000, 0];
/**
 * The bounds that the measurement must hold: `concurrency` at any time, the others once the hot domain makes all its requests.
 * `timesAlone` is the 95th percentile of the quiet domain, as a multiple of that without a hot domain.
 */
const bounds = { timesAlone: 1.5, concurrency: 200, refusalInMilliseconds: 4_000 };

const { usual, expensive } = changesOfProduction();
const lowThrottling = { requestsPerSecond: 100, burst: 100 };

/** The simulated endpoints: those of production, and others without one of their limits, which show what each limit is for. */
const cases: { name: string; endpoint: SimulatedEndpoint; isOfProduction: boolean }[] = [
  { name: 'usual, any executions', endpoint: { ...usual, reserved: undefined }, isOfProduction: false },
  { name: 'usual', endpoint: usual, isOfProduction: true },
  { name: 'expensive', endpoint: expensive, isOfProduction: true },
  { name: 'expensive, route of 100/s', endpoint: { ...expensive, throttling: lowThrottling }, isOfProduction: false },
];

const alone = new Map<string, number>();
const rows: object[] = [];
for (const { name, endpoint, isOfProduction } of cases) {
  const quietAlone = p95((await simulateHotDomain({ ...endpoint, hot: 0, rampInMilliseconds: 0 })).quiet);
  alone.set(name, quietAlone);
  for (const rampInMilliseconds of ramps) {
    const beside = await simulateHotDomain({ ...endpoint, hot: changesPerSecond, rampInMilliseconds });
    const broken = brokenBounds(beside, quietAlone);
    if (broken.length > 0 && isOfProduction) process.exitCode = 1;
    const bound = broken.length === 0 ? 'held' : `BROKEN: ${broken.join(', ')}`;
    rows.push({ endpoint: name, 'reached in (s)': rampInMilliseconds / 1_000, ...figuresOf(beside), bounds: bound });
  }
}
console.log(
  `All changes go to one endpoint of prod. A usual and an expensive one:\n${limitsOf(usual)}\n${limitsOf(expensive)}\n`,
);
printTable(rows);
console.log(
  `\np95 of the quiet domain alone (ms): ${[...alone].map(([name, value]) => `${name} ${value}`).join('; ')}.\n` +
    'p95, refusals: of changes that were sent while the hot domain made all of them. Concurrency: then, and at most before.\n' +
    `Bounds: no refusal of the quiet domain then, its p95 at most ${bounds.timesAlone} times that of it alone, refusals of the hot one within ` +
    `${bounds.refusalInMilliseconds / 1_000} s, concurrency under ${bounds.concurrency} at any time. The exit code is 1 if prod breaks one.`,
);

function limitsOf({ throttling, reserved, bucket }: SimulatedEndpoint): string {
  return (
    `- its route admits ${throttling?.requestsPerSecond.toLocaleString('en')} requests a second, ${throttling?.burst.toLocaleString('en')} at once; its function has ${reserved} executions; ` +
    `each domain may make ${bucket?.perSecond} changes a second, ${bucket?.burst} at once.`
  );
}

function brokenBounds(beside: Beside, alone: number): string[] {
  const broken: string[] = [];
  if (beside.quiet.some(({ status }) => status !== 200)) broken.push('quiet refused');
  if (!(p95(beside.quiet) <= bounds.timesAlone * alone)) broken.push('quiet p95');
  if (!(Math.max(...timesOf(refusedIn(beside))) < bounds.refusalInMilliseconds)) broken.push('refusals');
  if (!(Math.max(beside.mostBusy, beside.mostBusySteady) < bounds.concurrency)) broken.push('concurrency');
  return broken;
}

function figuresOf(beside: Beside): object {
  const quietRefused = beside.all.filter(({ domain, status }) => domain === 'quiet' && status !== 200).length;
  const refused = refusedIn(beside);
  const of = (status: number) => refused.filter((answer) => answer.status === status && !answer.isRouteFull).length;
  return {
    'quiet p95 (ms)': Math.round(p95(beside.quiet)),
    'quiet refused': quietRefused,
    'hot done/s': (beside.hot.length - refused.length) / 10,
    'hot 429/s': of(429) / 10,
    'hot 503/s': of(503) / 10,
    'by the route/s': refused.filter(({ isRouteFull }) => isRouteFull).length / 10,
    'slowest refusal (ms)': Math.round(Math.max(...timesOf(refused))),
    concurrency: beside.mostBusySteady,
    'at most': beside.mostBusy,
  };
}

function refusedIn({ hot }: Beside) {
  return hot.filter(({ status }) => status !== 200);
}

function timesOf(answers: { milliseconds: number }[]): number[] {
  return answers.map(({ milliseconds }) => milliseconds);
}
