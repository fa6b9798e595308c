import { describe, expect, it } from 'vitest';
import { stages } from '../../infra/stages.ts';
import { p95, simulateHotDomain } from '../support/hot-domain.ts';

const seconds = 1_000;
const rampInMilliseconds = 10 * seconds;

const { domainLimit } = stages.find(({ name }) => name === 'prod') ?? {};
const bucket = domainLimit && { perSecond: domainLimit.changesPerSecond, burst: domainLimit.burst };

describe('a domain with 5,000 changes a second, of which 40 are allowed', () => {
  it('leaves a quiet domain as fast as alone, holds fewer than 200 executions, and is refused within 4 seconds', async () => {
    const alone = await simulateHotDomain({ hot: 0, rampInMilliseconds, bucket });
    const { quiet, hot, mostBusy } = await simulateHotDomain({ hot: 5_000, rampInMilliseconds, bucket });
    expect(new Set(quiet.map(({ status }) => status))).toEqual(new Set([200]));
    expect(p95(quiet)).toBeLessThanOrEqual(1.5 * p95(alone.quiet));
    expect(mostBusy).toBeLessThan(200);
    const refused = hot.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0.9 * hot.length);
    expect(Math.max(...refused.map(({ milliseconds }) => milliseconds))).toBeLessThan(4 * seconds);
    const done = hot.filter(({ status }) => status === 200).length;
    expect(done / 10).toBeGreaterThan(30);
    expect(done / 10).toBeLessThan(60);
  });

  it('would hold more than 200 executions at 150 changes a second without the limit', async () => {
    const { mostBusy } = await simulateHotDomain({ hot: 150, rampInMilliseconds });
    expect(mostBusy).toBeGreaterThan(200);
  });
});
