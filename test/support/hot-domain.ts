import { stages } from '../../infra/stages/stages.ts';
import { virtualClock } from './aws-dynamodb/virtual-clock.ts';
import { simulatedFunctions, type Answered, type SimulatedEndpoint } from './simulated-functions.ts';

const seconds = 1_000;
/** The latest time at which the hot domain makes all its requests. Only what is sent after it counts as the steady load. */
const steadyFrom = 10 * seconds;
const end = 20 * seconds;
/** The request to storage that the creation of an asset with its content makes, as docs/cost.md assumes. */
const storage = 30;

export interface HotLoad extends SimulatedEndpoint {
  /** Changes per second of the hot domain. */
  hot: number;
  /** How long it takes to reach them. At most 10 seconds. */
  rampInMilliseconds: number;
}

/** The endpoints of the stage `prod` that change a domain. */
export function changesOfProduction(): Record<'usual' | 'expensive', SimulatedEndpoint> {
  const prod = stages.find(({ name }) => name === 'prod');
  if (!prod?.domainLimit || prod.reservedConcurrency === 'none') throw new Error('The stage prod has no limits.');
  const { domainLimit, reservedConcurrency, throttling, expensiveThrottling } = prod;
  const bucket = { perSecond: domainLimit.changesPerSecond, burst: domainLimit.burst };
  const reserved = reservedConcurrency.changes;
  return {
    usual: { bucket, reserved, throttling },
    expensive: { bucket, reserved, throttling: expensiveThrottling, otherWorkInMilliseconds: storage },
  };
}

/** What became of a hot domain and a quiet one beside it, which makes ten changes a second. Times are in milliseconds. */
export interface Beside {
  /** Of all changes. */
  all: Answered[];
  /** Of the changes that were sent while the hot domain made all its requests. */
  quiet: Answered[];
  hot: Answered[];
  /** The concurrent executions at most, from the first second on. */
  mostBusy: number;
  /** The same, while the hot domain made all its requests. */
  mostBusySteady: number;
}

/** Simulates 20 seconds in virtual time. API Gateway, the functions, conflicts of 15 ms and cold starts are those of simulatedFunctions. */
export async function simulateHotDomain({ hot, rampInMilliseconds, ...endpoint }: HotLoad): Promise<Beside> {
  const clock = virtualClock();
  const functions = simulatedFunctions(clock, endpoint);
  const calls: Promise<void>[] = [];
  let owed = 0;
  let mostBusySteady = 0;
  for (let now = 0; now < end; now++) {
    owed += (hot / seconds) * (rampInMilliseconds === 0 ? 1 : Math.min(1, now / rampInMilliseconds));
    for (; owed >= 1; owed--) calls.push(functions.call('hot'));
    if (now % 100 === 0) calls.push(functions.call('quiet'));
    if (now >= steadyFrom) mostBusySteady = Math.max(mostBusySteady, functions.busy());
    await clock.advance(1);
  }
  await clock.advance(10 * seconds);
  await Promise.all(calls);
  const steady = functions.answers.filter(({ at }) => at >= steadyFrom);
  return {
    all: functions.answers,
    quiet: steady.filter(({ domain }) => domain === 'quiet'),
    hot: steady.filter(({ domain }) => domain === 'hot'),
    mostBusy: functions.mostBusy(),
    mostBusySteady,
  };
}

export function p95(answers: readonly Answered[]): number {
  const times = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.95)] ?? NaN;
}
