import { describe, expect, it } from 'vitest';
import { stages } from '../../infra/stages.ts';
import { p95, simulateHotDomain } from '../support/hot-domain.ts';

const seconds = 1_000;
const rampInMilliseconds = 10 * seconds;

const { domainLimit, reservedConcurrency = 'none' } = stages.find(({ name }) => name === 'prod') ?? {};
const bucket = domainLimit && { perSecond: domainLimit.changesPerSecond, burst: domainLimit.burst };
const reserved = reservedConcurrency === 'none' ? undefined : reservedConcurrency.changes;

describe('a domain with 5,000 changes a second at one endpoint, of which 40 are allowed', () => {
  it('leaves a quiet domain as fast as alone, holds fewer than 200 executions, and is refused within 4 seconds', async () => {
    const { quiet, mostBusy } = await beside(rampInMilliseconds);
    expect(new Set(quiet.map(({ status }) => status))).toEqual(new Set([200]));
    expect(mostBusy).toBeLessThan(200);
  });

  it('does the same if it makes them all at once, after the first second', async () => {
    const { quiet, all, mostBusy } = await beside(0);
    expect(new Set(quiet.map(({ status }) => status))).toEqual(new Set([200]));
    expect(mostBusy).toBeLessThan(200);
    const soon = all.filter(({ domain, at }) => domain === 'quiet' && at > 1 * seconds);
    expect(new Set(soon.map(({ status }) => status))).toEqual(new Set([200]));
    expect(p95(soon)).toBeLessThanOrEqual(1.5 * p95(quiet));
  });

  it('would hold more than 200 executions at once if the function had no limit of its own', async () => {
    const { mostBusy } = await simulateHotDomain({ hot: 5_000, rampInMilliseconds: 0, bucket });
    expect(mostBusy).toBeGreaterThan(200);
  });

  it('would hold more than 200 executions at 150 changes a second without the limit', async () => {
    const { mostBusy } = await simulateHotDomain({ hot: 150, rampInMilliseconds });
    expect(mostBusy).toBeGreaterThan(200);
  });
});

/** Simulates the hot domain beside the quiet one, and checks what it makes and how fast it is refused. */
async function beside(rampInMilliseconds: number) {
  const alone = await simulateHotDomain({ hot: 0, rampInMilliseconds, bucket, reserved });
  const found = await simulateHotDomain({ hot: 5_000, rampInMilliseconds, bucket, reserved });
  expect(p95(found.quiet)).toBeLessThanOrEqual(1.5 * p95(alone.quiet));
  const refused = found.hot.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0.9 * found.hot.length);
  expect(Math.max(...refused.map(({ milliseconds }) => milliseconds))).toBeLessThan(4 * seconds);
  const done = found.hot.filter(({ status }) => status === 200).length;
  expect(done / 10).toBeGreaterThan(30);
  expect(done / 10).toBeLessThan(60);
  return found;
}
