import { firstInHead, type Head } from './head.ts';
import type { LogEntry } from './log.ts';

/** Changes of the newest members share the nodes that a fold writes. */
const leastAmongNewest = 32;
/**
 * Changes of members that are far apart have a leaf each. The more of them are folded together, the more share the node above it.
 * So many take two read units more in each read than 32 do.
 */
const leastFarApart = 160;
/** Folded entries stay in the log for a while. The head names them, so that a fold costs more the more there are. */
const leastShareOfLog = 1 / 8;

/** Returns how many changes make a fold worth its cost. */
export function leastStepsToFold(
  head: Head,
  { entries, unfolded }: { entries: readonly LogEntry[]; unfolded: readonly LogEntry[] },
): number {
  const changes = unfolded.flatMap(({ steps }) => steps.flatMap((step) => step.changes));
  const firsts = new Map(Object.keys(head.leaves).map((list) => [list, firstInHead(head, list)]));
  const old = changes.filter(({ list, number }) => number < (firsts.get(list) ?? 0)).length;
  return Math.max(old > changes.length / 2 ? leastFarApart : leastAmongNewest, countSteps(entries) * leastShareOfLog);
}

export function countSteps(entries: readonly LogEntry[]): number {
  return entries.reduce((count, { steps }) => count + steps.length, 0);
}
