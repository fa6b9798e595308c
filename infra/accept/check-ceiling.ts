import { setTimeout as delay } from 'node:timers/promises';
import type { AcceptClient } from './accept-client.ts';
import { percentile, type Finding } from './finding.ts';

export interface CeilingOptions {
  /** The highest rate that is offered. */
  writesPerSecond: number;
  /** How long each rate is offered. */
  seconds: number;
  /** The limit of changes of a domain. Undefined: it has none. */
  limit: { changesPerSecond: number; burst: number } | undefined;
}

const firstRate = 10;

/** Above this share of refusals, no higher rate is offered. */
const enoughRefusals = 0.05;

interface Level {
  offered: number;
  made: number;
  limited: number;
  busy: number;
  others: number;
  p95: number;
}

/** Returns the rates that are offered, each twice the one before. */
export function ratesUpTo(most: number): number[] {
  const rates: number[] = [];
  for (let rate = Math.min(firstRate, most); rate < most; rate *= 2) rates.push(rate);
  return [...rates, most];
}

/** Offers creates at growing rates, until some are refused. */
export async function checkCeiling(client: AcceptClient, options: CeilingOptions): Promise<Finding> {
  const { writesPerSecond, seconds, limit } = options;
  const levels: Level[] = [];
  const start = performance.now();
  for (const rate of ratesUpTo(writesPerSecond)) {
    const level = await offer(client, rate, seconds);
    levels.push(level);
    if (level.made < level.offered * (1 - enoughRefusals)) break;
  }
  const holds = ceilingHolds(levels, limit, (performance.now() - start) / 1_000);
  const last = levels.at(-1);
  const best = Math.max(...levels.map(({ made }) => made / seconds));
  const refused = last ? `${last.limited} answered 429, ${last.busy} answered 503, ${last.others} others` : 'nothing offered';
  return {
    what: 'creates per second before refusals',
    documented: limit
      ? `${limit.changesPerSecond} per second after a burst of ${limit.burst} (domainLimit), 429 above`
      : 'some 500 per second on AWS without domainLimit (ADR 1)',
    measured: `${best.toFixed(0)} per second made; at ${last ? last.offered / seconds : 0} offered, ${refused}, p95 ${last?.p95 ?? 0} ms`,
    ...(holds === undefined ? {} : { holds }),
  };
}

/**
 * Returns whether the answers are those that the limit promises: no 503, and 429 once more was offered than the limit lets pass.
 * Undefined if there is no limit, or less was offered.
 */
export function ceilingHolds(
  levels: readonly Omit<Level, 'made' | 'p95'>[],
  limit: CeilingOptions['limit'],
  elapsedInSeconds: number,
): boolean | undefined {
  const sum = (count: 'offered' | 'limited' | 'busy' | 'others') => levels.reduce((total, level) => total + level[count], 0);
  if (sum('others') > 0) return false;
  if (!limit) return undefined;
  if (sum('busy') > 0) return false;
  if (sum('limited') > 0) return true;
  return sum('offered') > limit.burst + limit.changesPerSecond * elapsedInSeconds ? false : undefined;
}

async function offer(client: AcceptClient, rate: number, seconds: number): Promise<Level> {
  const offered = Math.round(rate * seconds);
  const start = performance.now();
  const sent = Array.from({ length: offered }, async (_, index) => {
    await delay(Math.max(0, start + (index / rate) * 1_000 - performance.now()));
    return await client.call('createComputation', { body: { name: 'accept' } });
  });
  const answers = await Promise.all(sent);
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  const [made, limited, busy] = [count(201), count(429), count(503)];
  const p95 = Math.round(
    percentile(
      answers.map(({ milliseconds }) => milliseconds),
      0.95,
    ),
  );
  return { offered, made, limited, busy, others: offered - made - limited - busy, p95 };
}
