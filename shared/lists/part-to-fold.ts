import { bytesToName, type Fold } from './head.ts';
import type { LogEntry } from './log.ts';
import { versionsOf } from './unfolded.ts';

/**
 * A fold records each node that it writes or replaces in one item, its plan. If each change has three leaves of its own, and each
 * of these an inner node, the plan takes 300 KB of the 400 KB that an item may have.
 */
export const maxChangesOfFold = 2_000;
/** Half of what the head, one item, may have. Most entries take 6 to 8 bytes, those of purged runs 16. */
const maxNamedBytes = 200_000;

/**
 * Returns the entries that the next fold takes, up to its limits. An entry that must come after another one is taken after it. The
 * others can wait, since each counts by its own version.
 * @param folds those that the head names already
 */
export function partToFold(unfolded: readonly LogEntry[], folds: readonly Fold[]): LogEntry[] {
  const part: LogEntry[] = [];
  let changes = 0;
  let bytes = folds.reduce((sum, { entries }) => sum + bytesToName(entries), 0);
  for (const entry of orderedByDependency(unfolded)) {
    changes += entry.steps.reduce((sum, step) => sum + step.changes.length, 0);
    bytes += bytesToName(versionsOf([entry]));
    const isTooMuch = changes > maxChangesOfFold && part.length > 0;
    if (isTooMuch || bytes > maxNamedBytes) break;
    part.push(entry);
  }
  return part;
}

/** Returns the entries ordered so that each follows the one that its steps name in `after`, which has no `after` itself. */
function orderedByDependency(entries: readonly LogEntry[]): Set<LogEntry> {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const ordered = new Set<LogEntry>();
  for (const entry of entries) {
    for (const { after } of entry.steps) {
      const earlier = after && byName.get(after.name);
      if (earlier) ordered.add(earlier);
    }
    ordered.add(entry);
  }
  return ordered;
}
