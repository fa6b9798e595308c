import type { Throttling } from '../../infra/stages/stage.ts';
import { stages } from '../../infra/stages/stages.ts';
import { type Bucket, DomainLimit, type Taken, type Taking } from '../../shared/http/domain-limit.ts';
import { Deadline, maxRetryTimeInMilliseconds, maxTimeInMilliseconds, type Clock } from '../../shared/runtime/deadline.ts';
import { RateLimitError } from '../../shared/runtime/errors.ts';
import { testClock } from './test-clock.ts';

const seconds = 1_000;
/** The earliest time from which what is sent counts as the steady load: by then, the requests of a sudden start have been answered. */
const earliestSteady = 4 * seconds;
/** The request to storage that the creation of an asset with its content makes, as docs/cost.md assumes. */
const storage = 30;

export interface HotLoad extends SimulatedEndpoint {
  /** Changes per second of the hot domain. */
  hot: number;
  /** Milliseconds until the hot domain makes all its requests. */
  rampInMilliseconds: number;
  /** Seconds of steady load. Default 10. */
  steadyInSeconds?: number;
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

/** The answers of a hot domain and of a quiet one beside it, which makes ten changes a second. Times are in milliseconds. */
export interface Beside {
  /** The answers of all changes. */
  all: Answered[];
  /** The answers of the changes that were sent while the hot domain made all its requests. */
  quiet: Answered[];
  hot: Answered[];
  /** The concurrent executions at most, from the first second on. */
  mostBusy: number;
}

/** Simulates the load in virtual time. API Gateway, the functions, conflicts of 15 ms and cold starts are those of simulatedFunctions. */
export async function simulateHotDomain({
  hot,
  rampInMilliseconds,
  steadyInSeconds = 10,
  ...endpoint
}: HotLoad): Promise<Beside> {
  const clock = testClock({ start: 0, speed: 0 });
  const functions = simulatedFunctions(clock, endpoint);
  const steadyFrom = Math.max(rampInMilliseconds, earliestSteady);
  const calls: Promise<void>[] = [];
  let owed = 0;
  for (let now = 0; now < steadyFrom + steadyInSeconds * seconds; now++) {
    owed += (hot / seconds) * (rampInMilliseconds === 0 ? 1 : Math.min(1, now / rampInMilliseconds));
    for (; owed >= 1; owed--) calls.push(functions.call('hot'));
    if (now % 100 === 0) calls.push(functions.call('quiet'));
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
  };
}

export function p95(answers: readonly Answered[]): number {
  const times = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.95)] ?? NaN;
}

/** Milliseconds of a cold start that the model assumes. */
const coldStart = 300;
/** Milliseconds of computing that the model assumes for a call, also one that is refused, with 512 MB, as docs/cost.md does. */
const computing = 15;
const roundTrip = 5;
/** Milliseconds for which a transaction keeps others of its domain from being written. */
const transaction = 15;

/** A function's environment: it serves one request at a time, and keeps its leases. */
interface Environment {
  limit: DomainLimit<undefined> | undefined;
}

export interface Answered {
  domain: string;
  status: 200 | 429 | 503;
  /** Tells that API Gateway refused the request because its route was used up. */
  isRouteFull?: true;
  at: number;
  milliseconds: number;
}

/** An endpoint that changes a domain, with its limits. */
export interface SimulatedEndpoint {
  /** The requests that API Gateway admits to its route, for all domains together. It answers 429 above. Default: no limit. */
  throttling?: Throttling | undefined;
  /** The executions that its function has at most. Lambda refuses more, and API Gateway answers 503. Default: no limit. */
  reserved?: number | undefined;
  /** The limit of each domain. Default: none. */
  bucket?: Bucket | undefined;
  /** Milliseconds that a change takes besides its transaction, such as requests to storage. Default: 0. */
  otherWorkInMilliseconds?: number;
}

/**
 * A model of API Gateway and a function on Lambda that changes lists, for more load than one machine bears. An environment serves one
 * request at a time; the one used last is used first; a new one starts if all are busy. A transaction conflicts while another of its
 * domain is being written. The limit, its leases and the retries are the service's own.
 */
function simulatedFunctions(
  clock: Clock,
  { throttling, reserved = Infinity, bucket, otherWorkInMilliseconds = 0 }: SimulatedEndpoint,
) {
  const idle: Environment[] = [];
  const writing = new Set<string>();
  const answers: Answered[] = [];
  const take = sharedBucket(clock, bucket);
  const admits = routeBucket(clock, throttling);
  let busy = 0;
  let mostBusy = 0;

  async function environment(): Promise<Environment> {
    const used = idle.pop();
    if (used) return used;
    await clock.wait(coldStart);
    return { limit: bucket && new DomainLimit<undefined>(bucket, take) };
  }

  async function change({ limit }: Environment, domain: string): Promise<Answered['status']> {
    const deadline = new Deadline(maxTimeInMilliseconds, clock, { retryTime: maxRetryTimeInMilliseconds });
    await clock.wait(computing);
    try {
      await limit?.admit(undefined, { domain, user: 'alice', now: clock.now() });
    } catch (error) {
      if (error instanceof RateLimitError) return 429;
      throw error;
    }
    if (otherWorkInMilliseconds > 0) await clock.wait(otherWorkInMilliseconds);
    for (let attempt = 1; ; attempt++) {
      await clock.wait(roundTrip);
      if (!writing.has(domain)) break;
      if (!(await deadline.tryToPause(attempt))) return 503;
    }
    writing.add(domain);
    await clock.wait(transaction);
    writing.delete(domain);
    return 200;
  }

  return {
    answers,
    mostBusy: () => mostBusy,
    async call(domain: string): Promise<void> {
      const at = clock.now();
      if (!admits()) {
        answers.push({ domain, status: 429, isRouteFull: true, at, milliseconds: 0 });
        return;
      }
      if (busy >= reserved) {
        answers.push({ domain, status: 503, at, milliseconds: 0 });
        return;
      }
      busy += 1;
      mostBusy = Math.max(mostBusy, busy);
      const used = await environment();
      const status = await change(used, domain);
      idle.push(used);
      busy -= 1;
      answers.push({ domain, status, at, milliseconds: clock.now() - at });
    },
  };
}

/** The token bucket of a route at API Gateway. Each request that it admits takes a token, whatever the service then answers. */
function routeBucket(clock: Clock, throttling: Throttling | undefined): () => boolean {
  if (!throttling) return () => true;
  const { requestsPerSecond, burst } = throttling;
  let tokens = burst;
  let filledAt = clock.now();
  return () => {
    tokens = Math.min(burst, tokens + ((clock.now() - filledAt) / 1_000) * requestsPerSecond);
    filledAt = clock.now();
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

/** The bucket of the table, without a table: takeTokens is tested on the engine. */
function sharedBucket(clock: Clock, { perSecond, burst }: Bucket = { perSecond: 1, burst: 1 }) {
  const fullAt = new Map<string, number>();
  return async (_: undefined, { domain, tokens, now }: Taking): Promise<Taken> => {
    await clock.wait(roundTrip);
    const latest = now + ((burst - tokens) / perSecond) * 1000;
    const before = Math.max(now, fullAt.get(domain) ?? 0);
    if (before > latest) return { isRefused: true, because: 'domain', waitInMilliseconds: before - latest };
    fullAt.set(domain, before + (tokens / perSecond) * 1000);
    return { isRefused: false, left: Math.floor(((latest - before) / 1000) * perSecond) };
  };
}
