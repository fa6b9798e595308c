import { newestInHead, type Head } from './head.ts';
import type { ListIndex, LogEntry, LoggedStep } from './log.ts';
import { maxChangesOfFold } from './unfolded-entries.ts';

/** For changes that are mostly among the newest members, which share the nodes that a fold writes. */
const leastAmongNewest = 32;
/**
 * Changes of members that are far apart write a leaf each, and share only the inner nodes above. An inner node has about 38,000
 * members, so two changes share one if there is a change for every 19,000 members. Every 100 changes in the log cost each read two
 * more read units, so smaller lists, which have fewer inner nodes, wait for fewer changes.
 */
const membersPerChange = 19_000;
const farApart = { least: 160, most: 800 };
/**
 * A member with a group of its own takes some 12 bytes of a leaf, and these leaves are mostly three quarters full. One next to members of
 * its group takes one byte of a full leaf.
 */
const leavesOfSmallGroups = 16;
/** Folded entries stay in the log for a while, and the head names them: the more there are, the more a fold costs. */
const leastShareOfLog = 1 / 8;

/** Returns how many changes make a fold worth its cost. */
export function leastStepsToFold(
  index: ListIndex,
  head: Head,
  { entries, unfolded }: { entries: readonly LogEntry<LoggedStep>[]; unfolded: readonly LogEntry[] },
): number {
  const changes = unfolded.flatMap(({ steps }) => steps.flatMap((step) => step.changes));
  const firsts = new Map(Object.keys(head.leaves).map((list) => [list, newestInHead(head, list).from]));
  const old = changes.filter(({ list, number }) => number < (firsts.get(list) ?? 0)).length;
  const least = old > changes.length / 2 ? leastFarApart(index, head) : leastAmongNewest;
  return Math.min(maxChangesOfFold, Math.max(least, countSteps(entries) * leastShareOfLog));
}

function leastFarApart({ listsOfSmallGroups = [] }: ListIndex, { totals }: Head): number {
  const sizes = Object.entries(totals).map(([list, counts]) => {
    const members = counts.reduce((sum, count) => sum + count, 0);
    return listsOfSmallGroups.includes(list) ? members * leavesOfSmallGroups : members;
  });
  const largest = Math.max(0, ...sizes);
  return Math.min(farApart.most, Math.max(farApart.least, largest / membersPerChange));
}

export function countSteps(entries: readonly LogEntry<LoggedStep>[]): number {
  return entries.reduce((count, { steps }) => count + steps.length, 0);
}
