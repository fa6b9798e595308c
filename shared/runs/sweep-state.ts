import * as v from 'valibot';
import { sweepKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItem, type Table } from '../table/table.ts';
import { putItem } from '../table/writes.ts';
import type { CvmOfClaim } from './claim.ts';

const cvm = v.optional(v.object({ domain: v.string(), cvm_id: v.string() }));
const storedState = v.object({ suspect: cvm, other: cvm });

/** The claims of each kind that the sweep before looked at last. */
export interface SweepState {
  suspect?: CvmOfClaim | undefined;
  other?: CvmOfClaim | undefined;
}

export async function readSweepState(table: Table): Promise<SweepState> {
  const item = await getItem(table, sweepKeys.state);
  return item ? parseStored(storedState, item, 'state of the sweep') : {};
}

export async function writeSweepState(table: Table, { suspect, other }: SweepState): Promise<void> {
  await putItem(table, {
    ...sweepKeys.state,
    suspect: suspect && cvmOf(suspect),
    other: other && cvmOf(other),
  });
}

function cvmOf({ domain, cvm_id }: CvmOfClaim): CvmOfClaim {
  return { domain, cvm_id };
}

/** Orders claims by their CVM, beginning after the one that was looked at last. */
export function inTurn<T extends CvmOfClaim>(claims: T[], last: CvmOfClaim | undefined): T[] {
  const sorted = claims.toSorted(compareCvms);
  if (!last) return sorted;
  const start = sorted.findIndex((claim) => compareCvms(claim, last) > 0);
  return start < 0 ? sorted : [...sorted.slice(start), ...sorted.slice(0, start)];
}

function compareCvms(a: CvmOfClaim, b: CvmOfClaim): number {
  return compare(a.domain, b.domain) || compare(a.cvm_id, b.cvm_id);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
