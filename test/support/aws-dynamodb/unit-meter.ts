import type { Clock } from './clock.ts';

export type UnitKind = 'read' | 'write';

/** What one partition key may consume. `burstInSeconds` of it can be saved up. */
export interface UnitLimits {
  readUnitsPerSecond: number;
  writeUnitsPerSecond: number;
  burstInSeconds: number;
}

/** What a partition of AWS takes. AWS promises no burst of a single partition: one second of it is an assumption. */
export const unitLimitsOfAws: UnitLimits = { readUnitsPerSecond: 3000, writeUnitsPerSecond: 1000, burstInSeconds: 1 };

export type UnitFigures = Record<UnitKind, number>;

/** The units consumed per partition key since the start or the last reset. */
export interface Units {
  of: (partitionKey: string) => UnitFigures;
  /** By partition key, the one with the most write units first. Scans are under `scan`, whatever they read. */
  byPartitionKey: () => [partitionKey: string, figures: UnitFigures][];
  total: () => UnitFigures;
  /** How many requests, or items of a batch or transaction, were throttled. */
  throttled: () => number;
  reset: () => void;
}

/**
 * Meters what is consumed and limits it per partition key with a token bucket for reads and one for writes. As in DynamoDB, a
 * request is let in while the bucket holds anything, and pays what it turns out to cost, so that a bucket may go below zero.
 */
export interface UnitMeter extends Units {
  /** Takes the least that a request costs; false if the partition key is throttled. */
  reserve: (kind: UnitKind, partitionKey: string, units: number) => boolean;
  /** Replaces what was reserved by what was consumed. */
  settle: (kind: UnitKind, partitionKey: string, reserved: number, consumed: number) => void;
}

interface Bucket {
  units: number;
  filledAt: number;
}

export function createUnitMeter(clock: Clock, limits?: UnitLimits): UnitMeter {
  const figures = new Map<string, UnitFigures>();
  const buckets: Record<UnitKind, Map<string, Bucket>> = { read: new Map(), write: new Map() };
  let throttled = 0;

  const bucketOf = (kind: UnitKind, partitionKey: string): Bucket => {
    if (!limits) return { units: Infinity, filledAt: 0 };
    const perSecond = kind === 'read' ? limits.readUnitsPerSecond : limits.writeUnitsPerSecond;
    const most = perSecond * limits.burstInSeconds;
    const now = clock.now();
    const bucket = buckets[kind].get(partitionKey) ?? { units: most, filledAt: now };
    bucket.units = Math.min(most, bucket.units + ((now - bucket.filledAt) / 1000) * perSecond);
    bucket.filledAt = now;
    buckets[kind].set(partitionKey, bucket);
    return bucket;
  };
  const of = (partitionKey: string) => figures.get(partitionKey) ?? { read: 0, write: 0 };

  return {
    reserve: (kind, partitionKey, units) => {
      const bucket = bucketOf(kind, partitionKey);
      if (bucket.units <= 0) {
        throttled++;
        return false;
      }
      bucket.units -= units;
      return true;
    },
    settle: (kind, partitionKey, reserved, consumed) => {
      bucketOf(kind, partitionKey).units += reserved - consumed;
      const known = of(partitionKey);
      figures.set(partitionKey, { ...known, [kind]: known[kind] + consumed });
    },
    of,
    byPartitionKey: () => [...figures].sort(([, a], [, b]) => b.write - a.write),
    total: () =>
      [...figures.values()].reduce((sum, each) => ({ read: sum.read + each.read, write: sum.write + each.write }), {
        read: 0,
        write: 0,
      }),
    throttled: () => throttled,
    reset: () => {
      figures.clear();
      throttled = 0;
    },
  };
}
