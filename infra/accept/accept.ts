import type { AcceptTarget } from './accept-target.ts';
import { acceptClient } from './accept-client.ts';
import { checkCeiling, ratesUpTo } from './check-ceiling.ts';
import { checkConflicts } from './check-conflicts.ts';
import { checkExactness } from './check-exactness.ts';
import type { Finding } from './finding.ts';

export interface AcceptOptions {
  /** The computations that are created while their list is read. */
  changes: number;
  /** The highest rate of creates that is offered. */
  writesPerSecond: number;
  /** How long each rate is offered. */
  seconds: number;
}

const changesOfEachClient = 5;

/**
 * An upper bound for one call, with its reads, its logs, and the answer that is kept for its Idempotency-Key (2 write units,
 * $0.0000013). By docs/cost.md, the most expensive call costs less.
 */
const dollarsPerCall = 0.00003;

/** For the alarm, the run, and reading the logs. */
const dollarsForTheRest = 0.01;

/** Returns an upper bound of the calls and of what they cost on AWS, in dollars. */
export function costOf({ changes, writesPerSecond, seconds }: AcceptOptions): { calls: number; dollars: number } {
  const offered = ratesUpTo(writesPerSecond).reduce((sum, rate) => sum + rate * seconds, 0);
  const calls = Math.ceil(changes * 10 + 100 + offered);
  return { calls, dollars: calls * dollarsPerCall + dollarsForTheRest };
}

/** Measures in a domain that is new. Reports each finding as soon as it is known. */
export async function accept(
  { url, limit, checkAws }: AcceptTarget,
  { domain, token, onFinding, ...options }: AcceptOptions & Reporting,
): Promise<void> {
  const since = Date.now();
  const client = acceptClient({ url, domain, token });
  onFinding(await checkExactness(client, options.changes));
  onFinding(await checkConflicts(client, changesOfEachClient));
  onFinding(await checkCeiling(client, { ...options, limit }));
  await checkAws(domain, { client, since, onFinding });
}

interface Reporting {
  domain: string;
  token: string;
  onFinding: (finding: Finding) => void;
}
