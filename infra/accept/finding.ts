export interface Fact {
  what: string;
  documented: string;
}

/** A fact that was measured, beside what the documents say of it. */
export interface Finding extends Fact {
  measured: string;
  /** Whether both agree. Undefined: it could not be measured. */
  holds?: boolean;
}

/** The finding for a fact that cannot be measured on this target. */
export function notMeasured(fact: Fact, why: string): Finding {
  return { ...fact, measured: `not measured: ${why}` };
}

/** Does a check of facts that can be measured. If it fails, such as for a missing permission, they do not hold. */
export async function findingsOf(facts: readonly Fact[], check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    return facts.map((fact) => ({ ...fact, measured: `the check failed: ${String(error)}`, holds: false }));
  }
}

/** Returns the value below which this share of the values is. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
