import { readFileSync } from 'node:fs';
import * as v from 'valibot';

const measurement = v.object({
  name: v.string(),
  case: v.string(),
  key: v.optional(v.picklist(['first', 'repeat'])),
  roundTrips: v.number(),
  readUnits: v.number(),
  writeUnits: v.number(),
  endpoint: v.optional(v.number()),
});

const measuredSchema = v.object({
  functions: v.array(measurement),
  /** The endpoints that take an Idempotency-Key, called with one: the first time and again. */
  keyed: v.array(measurement),
  /** What the templates of a stage say that decides what it costs. */
  stage: v.object({
    memoryInMegabytes: v.number(),
    /** The memory of functions that hold requests. */
    memoryOfWaitsInMegabytes: v.number(),
    alarmMetrics: v.number(),
    dashboards: v.number(),
    /** KMS keys of the stage itself: those that sign evidence, and the one that seals private keys. AWS's own have no monthly price. */
    keys: v.number(),
  }),
});

/** What one call of a function took from the table. */
export type Measurement = v.InferOutput<typeof measurement>;

/** What docs/cost.md is computed from. */
export type Measured = v.InferOutput<typeof measuredSchema>;

export const measuredFile = new URL('measured.json', import.meta.url);

export function readMeasured(): Measured {
  return v.parse(measuredSchema, JSON.parse(readFileSync(measuredFile, 'utf8')));
}
