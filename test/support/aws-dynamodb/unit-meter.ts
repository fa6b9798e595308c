import type { Clock } from './clock.ts';

export type UnitKind = 'read' | 'write';

/** The limits of one partition key. Unused units of `burstInSeconds` can be saved up. */
export interface UnitLimits {
  readUnitsPerSecond: number;
  writeUnitsPerSecond: number;
  burstInSeconds: number;
}

/** The limits of a partition of AWS. AWS guarantees no burst for a partition: one second of it is an assumption. */
export const unitLimitsOfAws: UnitLimits = { readUnitsPerSecond: 3000, writeUnitsPerSecond: 1000, burstInSeconds: 1 };

export type UnitFigures = Record<UnitKind, number>;

/** The units consumed per partition key since the start or the last reset. */
export interface Units {
  of: (partitionKey: string) => UnitFigures;
  /** By partition key, with the most write units first. All scans are under `scan`. */
  byPartitionKey: () => [partitionKey: string, figures: UnitFigures][];
  total: () => UnitFigures;
  /** The number of throttled requests, or items of a batch or transaction. */
  throttled: () => number;
  reset: () => void;
}

/**
 * Meters the consumed units and limits them per partition key, with a token bucket for reads and one for writes. As in DynamoDB,
 * a request is accepted while the bucket is not empty and then pays its actual cost, so that a bucket may go below zero.
 */
export interface UnitMeter extends Units {
  /** Reserves the minimum cost of a request. Returns false if the partition key is throttled. */
  reserve: (kind: UnitKind, partitionKey: string, units: number) => boolean;
  /** Replaces the reserved units with the consumed ones. */
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
