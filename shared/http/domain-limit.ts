import { RateLimitError } from '../runtime/errors.ts';
import { environment } from '../runtime/environment.ts';
import type { Table } from '../table/table.ts';
import { limitKeys } from '../table/keys.ts';
import { updateNumberIf } from '../table/writes.ts';

/** What a function's environment knows of the bucket of a domain. */
interface Lease {
  /** Taken from the bucket and not used yet. */
  tokens: number;
  /** How many the environment took last. */
  lastTaken: number;
  /** Milliseconds since the Unix epoch. Unused tokens are void then. */
  expiresAt: number;
  /** Milliseconds since the Unix epoch. Until then the environment refuses without asking. */
  refusedUntil: number;
  /** Whether that was because the domain is being removed. */
  isClosed: boolean;
  /** The tokens in the bucket when the environment asked. */
  left: number;
}

const mostTokensOfLease = 10;
const leaseInMilliseconds = 10_000;
const leastPauseInMilliseconds = 250;
const mostPauseInMilliseconds = 1_000;
/** The Retry-After for a domain that is being removed. The environment itself asks again after a second. */
const pauseOfClosedInSeconds = 60;
/** Added to the time in which a bucket refills, for environments whose clock is late. A domain with a longer wait is closed. */
const clockSkewInMilliseconds = 60_000;
/** More domains than an environment serves in an hour. Beyond this, it asks again. */
const mostDomains = 1_000;

/** The refusal of a change in a domain that is being removed. */
export function domainIsClosed(domain: string, limits: Record<string, string> = {}): RateLimitError {
  const reason = `The domain ${domain} is being removed. You cannot change anything in it until the removal is complete.`;
  return new RateLimitError(reason, { ...limits, 'retry-after': String(pauseOfClosedInSeconds) });
}

/**
 * The limit of the changes of a domain. The bucket is an item of the table. A function's environment takes one token, and then
 * twice as many each time, up to ten, while it uses them up: most changes of a busy domain need no call. After a refusal it
 * refuses without a call until the bucket has tokens again. `Store` is the table. Tests that simulate many environments have a
 * model of it.
 */
export class DomainLimit<Store> {
  private readonly bucket: Bucket;
  private readonly take: (store: Store, taking: Taking) => Promise<Taken>;
  private readonly leases = new Map<string, Lease>();

  /** @param take takes tokens from the bucket of a domain in the store */
  constructor(bucket: Bucket, take: (store: Store, taking: Taking) => Promise<Taken>) {
    this.bucket = bucket;
    this.take = take;
  }

  /**
   * Lets one change pass.
   * @param now milliseconds since the Unix epoch
   * @returns the headers that tell the limit
   * @throws RateLimitError if the domain has used up its bucket
   */
  async admit(store: Store, domain: string, now: number): Promise<Record<string, string>> {
    const lease = this.leaseOf(domain);
    if (lease.expiresAt <= now) lease.tokens = 0;
    if (lease.tokens < 1) await this.renew(store, lease, { domain, now });
    lease.tokens -= 1;
    return this.headers(lease.left + lease.tokens);
  }

  private leaseOf(domain: string): Lease {
    const known = this.leases.get(domain);
    if (known) return known;
    if (this.leases.size >= mostDomains) this.leases.clear();
    const lease = { tokens: 0, lastTaken: 0, expiresAt: 0, refusedUntil: 0, isClosed: false, left: 0 };
    this.leases.set(domain, lease);
    return lease;
  }

  private async renew(store: Store, lease: Lease, { domain, now }: Omit<Taking, 'tokens'>): Promise<void> {
    if (now < lease.refusedUntil) throw this.refusal(domain, lease.refusedUntil - now, lease);
    // The requests of a domain may be spread over many environments. Each takes fewer than two tokens for a change that it admits.
    const usedUpInTime = now < lease.expiresAt;
    const most = Math.min(mostTokensOfLease, Math.floor(this.bucket.burst / 8));
    const tokens = usedUpInTime ? Math.max(1, Math.min(most, lease.lastTaken * 2)) : 1;
    const taken = await this.take(store, { domain, tokens, now });
    if (taken.isRefused) {
      const wait = Math.min(mostPauseInMilliseconds, Math.max(leastPauseInMilliseconds, taken.waitInMilliseconds));
      lease.refusedUntil = now + wait;
      lease.isClosed = this.isClosed(taken.waitInMilliseconds);
      throw this.refusal(domain, wait, lease);
    }
    lease.tokens += tokens;
    lease.lastTaken = tokens;
    lease.left = taken.left;
    lease.expiresAt = now + leaseInMilliseconds;
  }

  /** The removal of a domain empties its bucket for days (shared/domains/closed-domain.ts). */
  private isClosed(waitInMilliseconds: number): boolean {
    const { perSecond, burst } = this.bucket;
    return waitInMilliseconds > (burst / perSecond) * 1_000 + clockSkewInMilliseconds;
  }

  private refusal(domain: string, waitInMilliseconds: number, { isClosed }: Pick<Lease, 'isClosed'>): RateLimitError {
    if (isClosed) return domainIsClosed(domain, this.headers(0));
    const reason = `The domain ${domain} makes more than ${this.bucket.perSecond} changes per second. Try again later.`;
    return new RateLimitError(reason, { ...this.headers(0), 'retry-after': String(Math.ceil(waitInMilliseconds / 1_000)) });
  }

  /** The headers of draft-ietf-httpapi-ratelimit-headers-10. */
  private headers(left: number): Record<string, string> {
    const { perSecond, burst } = this.bucket;
    const windowInSeconds = Math.max(1, Math.ceil(burst / perSecond));
    return {
      'ratelimit-policy': `"domain-changes";q=${burst};w=${windowInSeconds}`,
      ratelimit: `"domain-changes";r=${Math.max(0, left)};t=${Math.max(1, Math.ceil((burst - left) / perSecond))}`,
    };
  }
}

/** One for each function's environment. It keeps the leases between requests. */
let limit: DomainLimit<Table> | undefined;

/**
 * Admits a change of a domain within the stage's limit.
 * @returns the headers that show the limit; none if the stage has none
 * @throws RateLimitError
 */
export async function admitChange(
  table: Table,
  { path, now }: { path: Record<string, string>; now: string },
): Promise<Record<string, string>> {
  const bucket = bucketOfStage();
  const { domainID } = path;
  if (!bucket || domainID === undefined) return {};
  limit ??= new DomainLimit(bucket, (table, taking) => takeTokens(table, bucket, taking));
  return await limit.admit(table, domainID, Date.parse(now));
}

function bucketOfStage(): Bucket | undefined {
  const { DOMAIN_CHANGES_PER_SECOND: perSecond, DOMAIN_BURST: burst } = environment();
  if (perSecond === undefined && burst === undefined) return undefined;
  if (perSecond === undefined || burst === undefined) {
    throw new Error('Set both DOMAIN_CHANGES_PER_SECOND and DOMAIN_BURST, or neither.');
  }
  return { perSecond, burst };
}

/** The figures of a token bucket. */
export interface Bucket {
  /** The tokens that it gets every second. */
  perSecond: number;
  /** The tokens that it holds at most. */
  burst: number;
}

/** The result of taking tokens from a bucket. */
export type Taken =
  | { isRefused: false; left: number }
  /** Nothing was taken. The wait is the time until there are enough tokens. */
  | { isRefused: true; waitInMilliseconds: number };

export interface Taking {
  domain: string;
  tokens: number;
  /** Milliseconds since the Unix epoch. */
  now: number;
}

/** Longer than any bucket takes to become full. */
const unusedInSeconds = 3_600;

/**
 * Takes tokens from a bucket in the table, in one call if the bucket is full or empty, else in two. The item holds the time at
 * which the bucket will be full again: taking tokens moves it into the future (the generic cell rate algorithm).
 */
export async function takeTokens(table: Table, { perSecond, burst }: Bucket, { domain, tokens, now }: Taking): Promise<Taken> {
  const cost = (tokens / perSecond) * 1000;
  const latest = now + (burst / perSecond) * 1000 - cost;
  const taken = (fullAt: number): Taken => ({
    isRefused: false,
    left: Math.floor(burst - ((fullAt - now) / 1000) * perSecond),
  });
  const update = (UpdateExpression: string, ConditionExpression: string, values: Record<string, number>) =>
    updateNumberIf(table, limitKeys.changes(domain), 'full_at', {
      UpdateExpression: `${UpdateExpression}, #ttl = :ttl`,
      ConditionExpression,
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ...values, ':ttl': Math.ceil(now / 1000) + unusedInSeconds },
    });

  const wasFull = await update('SET full_at = :full_at', 'attribute_not_exists(pk) OR full_at <= :now', {
    ':now': now,
    ':full_at': now + cost,
  });
  if (wasFull.isDone) return taken(wasFull.value);
  if (wasFull.value > latest) return { isRefused: true, waitInMilliseconds: wasFull.value - latest };
  const hadEnough = await update('SET full_at = full_at + :cost', 'full_at <= :latest', { ':latest': latest, ':cost': cost });
  return hadEnough.isDone ? taken(hadEnough.value) : { isRefused: true, waitInMilliseconds: hadEnough.value - latest };
}
