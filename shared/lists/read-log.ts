import { indexKeys } from '../table/index-keys.ts';
import { queryPartition, type Table } from '../table/table.ts';
import { foldedVersions, type Head } from './head.ts';
import type { ListIndex } from './list-index.ts';
import { parseEntry, type LogEntry } from './log.ts';
import { versionsOf } from './unfolded.ts';

/** Reads the partitions of the log in parallel, so that they may show different moments. See readWholeLog. */
export async function readLog(table: Table, index: ListIndex): Promise<LogEntry[]> {
  const logs = await Promise.all(indexKeys.logs(index).map((log) => queryPartition(table, log)));
  return logs.flat().map(parseEntry);
}

/**
 * Reads the log, and reads it again if a step was read without the step that it comes after (`after`), because the partitions
 * were read at different moments. If the second read lacks the earlier step too, that was folded and deleted before.
 */
export async function readWholeLog(table: Table, index: ListIndex, head: Head): Promise<LogEntry[]> {
  const awaited = new Set<string>();
  for (;;) {
    const entries = await readLog(table, index);
    const missing = missingBefore(head, entries).filter((each) => !awaited.has(each));
    if (missing.length === 0) return entries;
    for (const each of missing) awaited.add(each);
  }
}

/**
 * Returns the steps that others come after and that are neither in the log nor folded by the head's folds, as `entry:version`. What a
 * step that is folded comes after is in the trees, too.
 */
export function missingBefore(head: Head, entries: readonly LogEntry[]): string[] {
  const [folded, logged] = [foldedVersions(head), versionsOf(entries)];
  return entries
    .flatMap(({ name, steps }) => steps.filter((step) => step.version > (folded.get(name) ?? 0)))
    .flatMap(({ after }) => after ?? [])
    .filter(({ name, version }) => (folded.get(name) ?? 0) < version && (logged.get(name) ?? 0) < version)
    .map(({ name, version }) => `${name}:${version}`);
}
