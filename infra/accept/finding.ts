/** A fact that was measured, beside what the documents say of it. */
export interface Finding {
  what: string;
  documented: string;
  measured: string;
  /** Whether both agree. Undefined: it could not be measured. */
  holds?: boolean;
}

/** The finding for a fact that cannot be measured on this target. */
export function notMeasured(fact: Pick<Finding, 'what' | 'documented'>, why: string): Finding {
  return { ...fact, measured: `not measured: ${why}` };
}

/** Returns the value below which this share of the values is. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
