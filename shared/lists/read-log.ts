import { indexKeys } from '../table/index-keys.ts';
import { queryPartition, type Table } from '../table/table.ts';
import { foldedVersion, type Head } from './head.ts';
import type { ListIndex } from './list-index.ts';
import { parseEntry, type LogEntry, type LoggedStep, type StoredStep } from './log.ts';
import { versionsOf } from './unfolded.ts';

/** Reads the partitions of the log in parallel, so that they may show different moments. See readWholeLog. */
export async function readLog(table: Table, index: ListIndex): Promise<LogEntry<StoredStep>[]> {
  const logs = await Promise.all(indexKeys.logs(index).map((log) => queryPartition(table, log)));
  return logs.flat().map(parseEntry);
}

/**
 * Reads the log, and reads it again if a step was read without the step that it comes after (`after`), because the partitions
 * were read at different moments. If the second read lacks the earlier step too, that was folded and deleted before.
 */
export async function readWholeLog(table: Table, index: ListIndex, head: Head): Promise<LogEntry<StoredStep>[]> {
  const awaited = new Set<string>();
  for (;;) {
    const entries = await readLog(table, index);
    const missing = missingBefore(head, entries).filter((each) => !awaited.has(each));
    if (missing.length === 0) return entries;
    for (const each of missing) awaited.add(each);
  }
}

/** Returns the steps that others come after and that are neither in the log nor folded by the head's folds, as `entry:version`. */
export function missingBefore(head: Head, entries: readonly LogEntry<LoggedStep>[]): string[] {
  const logged = versionsOf(entries);
  return entries
    .flatMap(({ steps }) => steps.flatMap(({ after }) => after ?? []))
    .filter(({ name, version }) => foldedVersion(head, name) < version && (logged.get(name) ?? 0) < version)
    .map(({ name, version }) => `${name}:${version}`);
}
