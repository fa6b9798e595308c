import * as v from 'valibot';
import { sweepKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItem, type Table } from '../table/table.ts';
import { putItem } from '../table/writes.ts';
import type { Claim } from './claim.ts';

type Place = Pick<Claim, 'domain' | 'cvm_id'>;

const place = v.optional(v.object({ domain: v.string(), cvm_id: v.string() }));
const storedState = v.object({ suspect: place, other: place });

/** The claims of each kind that the sweep before looked at last. */
export interface SweepState {
  suspect?: Place | undefined;
  other?: Place | undefined;
}

export async function readSweepState(table: Table): Promise<SweepState> {
  const item = await getItem(table, sweepKeys.state);
  return item ? parseStored(storedState, item, 'state of the sweep') : {};
}

export async function writeSweepState(table: Table, { suspect, other }: SweepState): Promise<void> {
  await putItem(table, {
    ...sweepKeys.state,
    suspect: suspect && placeOf(suspect),
    other: other && placeOf(other),
  });
}

function placeOf({ domain, cvm_id }: Place): Place {
  return { domain, cvm_id };
}

/** Orders claims by their place, beginning after the one that was looked at last. */
export function inTurn<T extends Place>(claims: T[], last: Place | undefined): T[] {
  const sorted = claims.toSorted(comparePlaces);
  if (!last) return sorted;
  const start = sorted.findIndex((claim) => comparePlaces(claim, last) > 0);
  return start < 0 ? sorted : [...sorted.slice(start), ...sorted.slice(0, start)];
}

function comparePlaces(a: Place, b: Place): number {
  return compare(a.domain, b.domain) || compare(a.cvm_id, b.cvm_id);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
