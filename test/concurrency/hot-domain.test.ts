import { describe, expect, it } from 'vitest';
import { stages } from '../../infra/stages.ts';
import type { Bucket } from '../../shared/http/token-bucket.ts';
import { virtualClock } from '../support/aws-dynamodb/virtual-clock.ts';
import { simulatedFunctions, type Answered } from '../support/simulated-functions.ts';

const seconds = 1_000;
const rampInMilliseconds = 10 * seconds;
const endInMilliseconds = 20 * seconds;

interface Load {
  /** Requests per second of the hot domain, reached after ten seconds. */
  hot: number;
  bucket?: Bucket | undefined;
}

/** Ten changes a second in a quiet domain, beside those of a hot one. */
async function run({ hot, bucket }: Load) {
  const clock = virtualClock();
  const functions = simulatedFunctions(clock, bucket);
  const calls: Promise<void>[] = [];
  let owed = 0;
  for (let now = 0; now < endInMilliseconds; now++) {
    owed += (hot / seconds) * Math.min(1, now / rampInMilliseconds);
    for (; owed >= 1; owed--) calls.push(functions.call('hot'));
    if (now % 100 === 0) calls.push(functions.call('quiet'));
    await clock.advance(1);
  }
  await clock.advance(10 * seconds);
  await Promise.all(calls);
  return functions;
}

function p95(answers: Answered[]): number {
  const times = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.95)] ?? NaN;
}

const of = (answers: Answered[], domain: string) =>
  answers.filter((answer) => answer.domain === domain && answer.at >= rampInMilliseconds);

const { domainLimit } = stages.find(({ name }) => name === 'prod') ?? {};
const bucket = domainLimit && { perSecond: domainLimit.changesPerSecond, burst: domainLimit.burst };

describe('a domain with 5,000 changes a second, of which 40 are allowed', () => {
  it('leaves a quiet domain as fast as alone, holds fewer than 200 executions, and is refused within 4 seconds', async () => {
    const alone = await run({ hot: 0, bucket });
    const beside = await run({ hot: 5_000, bucket });
    const quiet = of(beside.answers, 'quiet');
    const hot = of(beside.answers, 'hot');
    expect(new Set(quiet.map(({ status }) => status))).toEqual(new Set([200]));
    expect(p95(quiet)).toBeLessThanOrEqual(1.5 * p95(of(alone.answers, 'quiet')));
    expect(beside.mostBusy()).toBeLessThan(200);
    const refused = hot.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0.9 * hot.length);
    expect(Math.max(...refused.map(({ milliseconds }) => milliseconds))).toBeLessThan(4 * seconds);
    const done = hot.filter(({ status }) => status === 200).length;
    expect(done / 10).toBeGreaterThan(30);
    expect(done / 10).toBeLessThan(60);
  });

  it('would hold more than 200 executions at 150 changes a second without the limit', async () => {
    const { mostBusy } = await run({ hot: 150 });
    expect(mostBusy()).toBeGreaterThan(200);
  });
});
