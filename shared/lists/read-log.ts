import { indexKeys } from '../table/index-keys.ts';
import { queryPartition, type Table } from '../table/table.ts';
import { foldedVersions, type Head } from './head.ts';
import type { ListIndex } from './list-index.ts';
import { parseEntry, type LogEntry } from './log.ts';

/** Reads the log's partitions at the same time. They may be of different moments: see readWholeLog. */
export async function readLog(table: Table, index: ListIndex): Promise<LogEntry[]> {
  const logs = await Promise.all(indexKeys.logs(index).map((log) => queryPartition(table, log)));
  return logs.flat().map(parseEntry);
}

/**
 * Reads the log again while an entry was seen and another one, which it comes after, was not. What the second of two reads does
 * not see either was folded and deleted long ago: this read began after the first one had seen what comes after it.
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

/** Returns what steps come after and is neither in the log nor among the entries that the head names, as `entry:version`. */
export function missingBefore(head: Head, entries: readonly LogEntry[]): string[] {
  const seen = foldedVersions(head);
  for (const { name, steps } of entries) seen.set(name, Math.max(seen.get(name) ?? 0, steps.at(-1)?.version ?? 0));
  return entries
    .flatMap(({ steps }) => steps.flatMap(({ after }) => after ?? []))
    .filter(({ name, version }) => (seen.get(name) ?? 0) < version)
    .map(({ name, version }) => `${name}:${version}`);
}
