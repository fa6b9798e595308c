import { stages } from '../infra/stages.ts';
import { p95, simulateHotDomain, type Beside } from '../test/support/hot-domain.ts';
import { printTable } from './print-table.ts';

/**
 * Offers 5,000 changes a second in one domain beside ten a second in a quiet one, in virtual time: a model of Lambda's environments
 * and of conflicts of 15 ms, with the service's own limit, leases and retries. Prints what the quiet domain sees of it.
 */
const changesPerSecond = 5_000;
const ramps = [10_000, 1_000, 0];
/** What must hold: the concurrency at any time, the others once the hot domain makes all its requests. */
const bounds = { timesAlone: 1.5, concurrency: 200, refusalInMilliseconds: 4_000 };

const { domainLimit, reservedConcurrency = 'none' } = stages.find(({ name }) => name === 'prod') ?? {};
if (!domainLimit) throw new Error('The stage prod has no limit for each domain.');
const bucket = { perSecond: domainLimit.changesPerSecond, burst: domainLimit.burst };
const reserved = reservedConcurrency === 'none' ? undefined : reservedConcurrency.changes;

const alone = p95((await simulateHotDomain({ hot: 0, rampInMilliseconds: 0, bucket })).quiet);
console.log(
  `A quiet domain alone: p95 ${alone} ms. Limit of a domain: ${bucket.perSecond} changes a second, ${bucket.burst} at once.\n` +
    `All changes go to one endpoint. Executions of its function (reservedConcurrency.changes of prod): ${reserved ?? 'no limit'}.\n`,
);

const rows: object[] = [];
for (const executions of new Set([undefined, reserved])) {
  for (const rampInMilliseconds of ramps) {
    const beside = await simulateHotDomain({ hot: changesPerSecond, rampInMilliseconds, bucket, reserved: executions });
    const broken = brokenBounds(beside);
    if (broken.length > 0 && executions === reserved) process.exitCode = 1;
    const bound = broken.length === 0 ? 'held' : `BROKEN: ${broken.join(', ')}`;
    const setting = { 'reached in (s)': rampInMilliseconds / 1_000, executions: executions ?? 'no limit' };
    rows.push({ ...setting, ...figuresOf(beside), bounds: bound });
  }
}
printTable(rows);
console.log(
  '\np95, refusals: of changes that were sent while the hot domain made all of them. Concurrency: then, and at most before.\n' +
    `Bounds: p95 at most ${bounds.timesAlone} times that of the quiet domain alone, refusals within ${bounds.refusalInMilliseconds / 1_000} s, ` +
    `concurrency under ${bounds.concurrency} at any time. The exit code is 1 if prod breaks one.`,
);

function brokenBounds(beside: Beside): string[] {
  const broken: string[] = [];
  if (!(p95(beside.quiet) <= bounds.timesAlone * alone)) broken.push('quiet p95');
  if (!(Math.max(...timesOf(refusedIn(beside))) < bounds.refusalInMilliseconds)) broken.push('refusals');
  if (!(Math.max(beside.mostBusy, beside.mostBusySteady) < bounds.concurrency)) broken.push('concurrency');
  return broken;
}

function figuresOf(beside: Beside): object {
  const quietRefused = beside.all.filter(({ domain, status }) => domain === 'quiet' && status !== 200).length;
  const refused = refusedIn(beside);
  const of = (status: number) => refused.filter((answer) => answer.status === status).length;
  return {
    'quiet p95 (ms)': p95(beside.quiet),
    'quiet refused': quietRefused,
    'hot done/s': (beside.hot.length - refused.length) / 10,
    'hot 429/s': of(429) / 10,
    'hot 503/s': of(503) / 10,
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
