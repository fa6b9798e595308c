import { createHash } from 'node:crypto';
import type { Caller } from './caller.ts';
import { RateLimitError } from '../runtime/errors.ts';
import { environment } from '../runtime/environment.ts';
import type { Table } from '../table/table.ts';
import { limitKeys } from '../table/keys.ts';
import { tryUpdate } from '../table/writes.ts';

interface Lease {
  /**
   * The number of tokens that a function's environment has taken from the bucket of a domain and has not used yet. Each change
   * uses one token.
   */
  tokens: number;
  lastTaken: number;
  /** The time when the unused tokens of an environment become void, in milliseconds since the Unix epoch. */
  expiresAt: number;
  /**
   * The time until which a function's environment refuses changes of a user without asking the bucket of the domain again, in
   * milliseconds since the Unix epoch.
   */
  refusedUntil: number;
  because: Reason;
  left: number;
}

const mostTokensOfLease = 10;
const leaseInMilliseconds = 10_000;
const leastPauseInMilliseconds = 250;
const mostPauseInMilliseconds = 1_000;
/**
 * The header Retry-After of a refused change in a domain that is being removed, in seconds. A function's environment asks the
 * bucket of the domain again after a second.
 */
const pauseOfClosedInSeconds = 60;
/**
 * The allowance for clocks of function environments that are late, in milliseconds. A bucket counts as that of a closed domain
 * if it takes longer to be full again than filling an empty one takes, plus this allowance.
 */
const clockSkewInMilliseconds = 60_000;
const mostLeases = 1_000;

/** The share of a domain's bucket of changes that one user may take until the bucket is full again: half of it. */
const shareOfUser = 0.5;

/**
 * The reason why a change is refused: the limit of the domain, the share of the user, or `closed`: the domain is being removed.
 */
type Reason = 'domain' | 'user' | 'closed';

/** Returns the error for a change in a domain that is being removed, with the headers of the limit (429). */
export function domainIsClosed(domain: string, limits: Record<string, string> = {}): RateLimitError {
  const reason = `The domain ${domain} is being removed. You cannot change anything in it until the removal is complete.`;
  return new RateLimitError(reason, { ...limits, 'retry-after': String(pauseOfClosedInSeconds) });
}

/**
 * Limits the changes of each domain. A function's environment takes one token from the bucket for a user, and then twice as many
 * each time, up to ten, while the user uses them up (docs/adr/0014-domain-limits.md). After a refusal it refuses without a call
 * until the bucket has tokens again. `Store` is the table; tests have a model of it.
 */
export class DomainLimit<Store> {
  private readonly bucket: Bucket;
  private readonly take: (store: Store, taking: Taking) => Promise<Taken>;
  private readonly leases = new Map<string, Lease>();

  constructor(bucket: Bucket, take: (store: Store, taking: Taking) => Promise<Taken>) {
    this.bucket = bucket;
    this.take = take;
  }

  /**
   * Admits a change of a user in a domain, or refuses it because of the domain's limit.
   * @param change.now milliseconds since the Unix epoch
   * @returns the headers that tell the client about the limit
   * @throws RateLimitError if the domain has used up its bucket, or the user their share
   */
  async admit(store: Store, change: Omit<Taking, 'tokens'>): Promise<Record<string, string>> {
    const lease = this.leaseOf(change);
    if (lease.expiresAt <= change.now) lease.tokens = 0;
    if (lease.tokens < 1) await this.renew(store, lease, change);
    lease.tokens -= 1;
    return this.headers('domain', lease.left + lease.tokens);
  }

  private leaseOf({ domain, user }: Omit<Taking, 'tokens'>): Lease {
    const name = `${domain} ${user}`;
    const known = this.leases.get(name);
    if (known) return known;
    if (this.leases.size >= mostLeases) this.leases.clear();
    const lease: Lease = { tokens: 0, lastTaken: 0, expiresAt: 0, refusedUntil: 0, because: 'domain', left: 0 };
    this.leases.set(name, lease);
    return lease;
  }

  private async renew(store: Store, lease: Lease, change: Omit<Taking, 'tokens'>): Promise<void> {
    const { domain, now } = change;
    if (now < lease.refusedUntil) throw this.refusal(domain, lease.refusedUntil - now, lease);
    // The requests of a domain may be spread over many environments. Each takes fewer than two tokens for a change that it admits.
    const usedUpInTime = now < lease.expiresAt;
    const most = Math.min(mostTokensOfLease, Math.floor(this.bucket.burst / 8));
    const tokens = usedUpInTime ? Math.max(1, Math.min(most, lease.lastTaken * 2)) : 1;
    const taken = await this.take(store, { ...change, tokens });
    if (taken.isRefused) {
      const wait = Math.min(mostPauseInMilliseconds, Math.max(leastPauseInMilliseconds, taken.waitInMilliseconds));
      lease.refusedUntil = now + wait;
      lease.because = this.isClosed(taken.waitInMilliseconds) ? 'closed' : taken.because;
      throw this.refusal(domain, wait, lease);
    }
    lease.tokens += tokens;
    lease.lastTaken = tokens;
    lease.left = taken.left;
    lease.expiresAt = now + leaseInMilliseconds;
  }

  /**
   * Returns whether a domain is closed because it is being removed, by the wait until its bucket has tokens again: the removal
   * empties the bucket for days (shared/rows/closed-domain.ts).
   */
  private isClosed(waitInMilliseconds: number): boolean {
    const { perSecond, burst } = this.bucket;
    return waitInMilliseconds > (burst / perSecond) * 1_000 + clockSkewInMilliseconds;
  }

  private refusal(domain: string, waitInMilliseconds: number, { because }: Pick<Lease, 'because'>): RateLimitError {
    if (because === 'closed') return domainIsClosed(domain, this.headers('domain', 0));
    const { perSecond } = this.bucket;
    const reason =
      because === 'user'
        ? `You make too many changes in the domain ${domain}: ${mostOfUser(this.bucket)} at once, while others may make changes too`
        : `The domain ${domain} makes more than ${perSecond} changes per second`;
    const headers = { ...this.headers(because, 0), 'retry-after': String(Math.ceil(waitInMilliseconds / 1_000)) };
    return new RateLimitError(`${reason}. Try again later.`, headers);
  }

  /**
   * Returns the response headers that tell how many changes a domain or a user may make and how many remain
   * (draft-ietf-httpapi-ratelimit-headers-10).
   */
  private headers(of: 'domain' | 'user', left: number): Record<string, string> {
    const { perSecond, burst } = this.bucket;
    const most = of === 'user' ? mostOfUser(this.bucket) : burst;
    const windowInSeconds = Math.max(1, Math.ceil(burst / perSecond));
    return {
      'ratelimit-policy': `"${of}-changes";q=${most};w=${windowInSeconds}`,
      ratelimit: `"${of}-changes";r=${Math.max(0, left)};t=${Math.max(1, Math.ceil((most - left) / perSecond))}`,
    };
  }
}

let limit: DomainLimit<Table> | undefined;

/**
 * Admits a change if the domain's limit allows it.
 * @returns the headers that show the limit; none if the stage has no limit
 * @throws RateLimitError if the domain has used up its bucket, or the user their share
 */
export async function admitChange(
  table: Table,
  { path, caller, now }: { path: Record<string, string>; caller: Caller; now: string },
): Promise<Record<string, string>> {
  const bucket = bucketOfStage();
  const { domainID } = path;
  if (!bucket || domainID === undefined) return {};
  limit ??= new DomainLimit(bucket, (table, taking) => takeTokens(table, bucket, taking));
  return await limit.admit(table, { domain: domainID, user: caller.id, now: Date.parse(now) });
}

function bucketOfStage(): Bucket | undefined {
  const { DOMAIN_CHANGES_PER_SECOND: perSecond, DOMAIN_BURST: burst } = environment();
  if (perSecond === undefined && burst === undefined) return undefined;
  if (perSecond === undefined || burst === undefined) {
    throw new Error('Set both DOMAIN_CHANGES_PER_SECOND and DOMAIN_BURST, or neither.');
  }
  return { perSecond, burst };
}

/** The limit on the changes of one domain: `perSecond` changes per second, and `burst` changes at once. */
export interface Bucket {
  perSecond: number;
  burst: number;
}

/** The result of taking tokens from the bucket of a domain: how many are left in the bucket, or the refusal. */
export type Taken =
  | { isRefused: false; left: number }
  /**
   * The refusal to give tokens for changes: `because` of the limit of the domain or of the share of the user. The wait ends when
   * the bucket has enough tokens, or, if the share of the user is used up, when the bucket is full.
   */
  | { isRefused: true; because: 'domain' | 'user'; waitInMilliseconds: number };

/** A request of a user for tokens from the token bucket that limits the changes in a domain. */
export interface Taking {
  domain: string;
  user: string;
  tokens: number;
  /** The time of the request for tokens, in milliseconds since the Unix epoch. */
  now: number;
}

const unusedInSeconds = 3_600;

const mostOfUser = ({ burst }: Bucket): number => Math.max(1, Math.floor(burst * shareOfUser));

/**
 * Takes tokens from the bucket of a domain: one call if the bucket is full or empty, else two. The item holds the time at which
 * the bucket will be full again, which taking tokens moves into the future, and what each user has taken since.
 */
export async function takeTokens(table: Table, bucket: Bucket, { domain, user, tokens, now }: Taking): Promise<Taken> {
  const { perSecond, burst } = bucket;
  const cost = (tokens / perSecond) * 1000;
  const latest = now + (burst / perSecond) * 1000 - cost;
  const name = createHash('sha256').update(user).digest('base64url').slice(0, 8);
  const update = (UpdateExpression: string, ConditionExpression: string, values: Record<string, unknown>, names = {}) =>
    tryUpdate(table, limitKeys.changes(domain), {
      UpdateExpression: `${UpdateExpression}, #ttl = :ttl`,
      ConditionExpression,
      ExpressionAttributeNames: { '#ttl': 'ttl', ...names },
      ExpressionAttributeValues: { ...values, ':ttl': Math.ceil(now / 1000) + unusedInSeconds },
    });
  const fullAtOf = (attempt: Awaited<ReturnType<typeof update>>) =>
    Number(attempt.isDone ? attempt.output.Attributes?.['full_at'] : attempt.failure.Item?.['full_at']?.N);

  let attempt = await update('SET full_at = :full_at, taken = :taken', 'attribute_not_exists(pk) OR full_at <= :now', {
    ':now': now,
    ':full_at': now + cost,
    ':taken': { [name]: tokens },
  });
  if (!attempt.isDone && fullAtOf(attempt) <= latest) {
    attempt = await update(
      'SET full_at = full_at + :cost, taken.#user = if_not_exists(taken.#user, :none) + :tokens',
      'full_at <= :latest AND (attribute_not_exists(taken.#user) OR taken.#user <= :most)',
      { ':latest': latest, ':cost': cost, ':tokens': tokens, ':none': 0, ':most': mostOfUser(bucket) - tokens },
      { '#user': name },
    );
  }
  const fullAt = fullAtOf(attempt);
  if (attempt.isDone) return { isRefused: false, left: Math.floor(burst - ((fullAt - now) / 1000) * perSecond) };
  const isOfDomain = fullAt > latest;
  const waitInMilliseconds = isOfDomain ? fullAt - latest : Math.max(0, fullAt - now);
  return { isRefused: true, because: isOfDomain ? 'domain' : 'user', waitInMilliseconds };
}
