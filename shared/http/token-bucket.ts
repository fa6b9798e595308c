import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { limitKeys, type Key } from '../table/keys.ts';
import { deadlineOf, type Table } from '../table/table.ts';

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
  /** Nothing was taken. The tokens are there in so many milliseconds. */
  | { isRefused: true; waitInMilliseconds: number };

export interface Taking {
  domain: string;
  tokens: number;
  /** Milliseconds since the Unix epoch. */
  now: number;
}

/** Longer than any bucket takes to become full. */
const unusedInSeconds = 3_600;

const stored = v.object({ full_at: v.number() });

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
  const change = { key: limitKeys.changes(domain), expiresAt: Math.ceil(now / 1000) + unusedInSeconds };

  const wasFull = await update(table, change, {
    UpdateExpression: 'SET full_at = :full_at',
    ConditionExpression: 'attribute_not_exists(pk) OR full_at <= :now',
    ExpressionAttributeValues: { ':now': now, ':full_at': now + cost },
  });
  if (wasFull.isDone) return taken(wasFull.fullAt);
  if (wasFull.fullAt > latest) return { isRefused: true, waitInMilliseconds: wasFull.fullAt - latest };
  const hadEnough = await update(table, change, {
    UpdateExpression: 'SET full_at = full_at + :cost',
    ConditionExpression: 'full_at <= :latest',
    ExpressionAttributeValues: { ':latest': latest, ':cost': cost },
  });
  if (hadEnough.isDone) return taken(hadEnough.fullAt);
  return { isRefused: true, waitInMilliseconds: hadEnough.fullAt - latest };
}

interface Update {
  UpdateExpression: string;
  ConditionExpression: string;
  ExpressionAttributeValues: Record<string, number>;
}

async function update(
  table: Table,
  { key, expiresAt }: { key: Key; expiresAt: number },
  { UpdateExpression, ConditionExpression, ExpressionAttributeValues }: Update,
): Promise<{ isDone: boolean; fullAt: number }> {
  try {
    const { Attributes } = await table.document.send(
      new UpdateCommand({
        TableName: table.name,
        Key: key,
        UpdateExpression: `${UpdateExpression}, #ttl = :ttl`,
        ConditionExpression,
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: { ...ExpressionAttributeValues, ':ttl': expiresAt },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
      { abortSignal: deadlineOf(table).signal() },
    );
    return { isDone: true, fullAt: v.parse(stored, Attributes).full_at };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { isDone: false, fullAt: Number(error.Item?.['full_at']?.N) };
  }
}
