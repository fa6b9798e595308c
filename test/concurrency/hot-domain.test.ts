import { describe, expect, it } from 'vitest';
import { amount } from '../support/amounts.ts';
import { changesOfProduction, type HotLoad, p95, type SimulatedEndpoint, simulateHotDomain } from '../support/hot-domain.ts';

const seconds = 1_000;
const rampInMilliseconds = 10 * seconds;
const steadyInSeconds = amount({ sample: 2, full: 10 });
const { usual, expensive } = changesOfProduction();
const simulate = (load: HotLoad) => simulateHotDomain({ steadyInSeconds, ...load });

describe('a domain with 5,000 changes a second at one endpoint, of which 40 are allowed', () => {
  it('leaves a quiet domain as fast as alone, holds fewer than 200 executions, and is refused within 4 seconds', async () => {
    const { quiet, mostBusy } = await beside(rampInMilliseconds, usual);
    expect(statusesOf(quiet)).toEqual([200]);
    expect(mostBusy).toBeLessThan(200);
  });

  it.each([
    ['an endpoint', usual],
    ['an expensive endpoint', expensive],
  ])('does the same at %s if it makes them all at once, after a second and a half', async (_, endpoint) => {
    const { quiet, all, mostBusy } = await beside(0, endpoint);
    expect(statusesOf(quiet)).toEqual([200]);
    expect(mostBusy).toBeLessThan(200);
    const soon = all.filter(({ domain, at }) => domain === 'quiet' && at > 1.5 * seconds);
    expect(statusesOf(soon)).toEqual([200]);
    expect(p95(soon)).toBeLessThanOrEqual(1.5 * p95(quiet));
  });

  it('would keep the quiet domain out for as long as it goes on if API Gateway admitted fewer requests to the route', async () => {
    const throttling = { requestsPerSecond: 100, burst: 100 };
    const { quiet } = await simulate({ ...expensive, throttling, hot: 5_000, rampInMilliseconds: 0 });
    const refused = quiet.filter(({ isRouteFull }) => isRouteFull);
    expect(refused.length).toBeGreaterThan(0.9 * quiet.length);
  });

  it('would hold more than 200 executions at once if the function had no limit of its own', async () => {
    const { mostBusy } = await simulate({ ...usual, reserved: undefined, hot: 5_000, rampInMilliseconds: 0, steadyInSeconds: 0 });
    expect(mostBusy).toBeGreaterThan(200);
  });

  it('would hold more than 200 executions at 150 changes a second without the limit', async () => {
    const { mostBusy } = await simulate({ hot: 150, rampInMilliseconds });
    expect(mostBusy).toBeGreaterThan(200);
  });
});

/** Simulates the hot domain beside the quiet one, and checks what it makes and how fast it is refused. */
async function beside(rampInMilliseconds: number, endpoint: SimulatedEndpoint) {
  const alone = await simulate({ ...endpoint, hot: 0, rampInMilliseconds });
  const found = await simulate({ ...endpoint, hot: 5_000, rampInMilliseconds });
  expect(p95(found.quiet)).toBeLessThanOrEqual(1.5 * p95(alone.quiet));
  const refused = found.hot.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0.9 * found.hot.length);
  expect(Math.max(...refused.map(({ milliseconds }) => milliseconds))).toBeLessThan(4 * seconds);
  const done = found.hot.filter(({ status }) => status === 200).length;
  expect(done / steadyInSeconds).toBeGreaterThan(30);
  expect(done / steadyInSeconds).toBeLessThan(60);
  return found;
}

function statusesOf(answers: readonly { status: number }[]): number[] {
  return [...new Set(answers.map(({ status }) => status))];
}
