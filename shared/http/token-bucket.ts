import { limitKeys } from '../table/keys.ts';
import { updateNumberIf } from '../table/numbers.ts';
import type { Table } from '../table/table.ts';

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
