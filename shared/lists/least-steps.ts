import { firstInHead, type Head } from './head.ts';
import type { LogEntry } from './log.ts';

/** Changes of the newest members share the nodes that a fold writes. */
const leastAmongNewest = 32;
/**
 * Changes of members that are far apart have a leaf each. The more of them are folded together, the more share the node above it:
 * two and more if there are as many changes as this for each such node, which has some 38,000 members. Each hundred of them in the
 * log takes two read units more in each read, so that smaller lists, which have few such nodes, need fewer.
 */
const membersPerChange = 19_000;
const farApart = { least: 160, most: 640 };
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
  const least = old > changes.length / 2 ? leastFarApart(head) : leastAmongNewest;
  return Math.max(least, countSteps(entries) * leastShareOfLog);
}

function leastFarApart({ totals }: Head): number {
  const largest = Math.max(0, ...Object.values(totals).map((counts) => counts.reduce((sum, count) => sum + count, 0)));
  return Math.min(farApart.most, Math.max(farApart.least, largest / membersPerChange));
}

export function countSteps(entries: readonly LogEntry[]): number {
  return entries.reduce((count, { steps }) => count + steps.length, 0);
}
