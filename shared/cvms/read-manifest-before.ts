import type { Manifest } from '../rows/manifest.ts';
import type { RunReference } from '../rows/run.ts';
import { parseSnapshot } from '../rows/run-snapshot.ts';
import { runKeys } from '../table/keys.ts';
import { type Table, getItems } from '../table/table.ts';

/**
 * Reads the manifest of a run in which some events have not happened yet.
 * @param reports the identifiers of the reports on these events, from any gateway
 * @returns undefined if one of the reports was recorded, or if the run was deleted
 */
export async function readManifestBefore(
  table: Table,
  { computation_id, run_id }: Pick<RunReference, 'computation_id' | 'run_id'>,
  reports: string[],
): Promise<Manifest | undefined> {
  const markers = reports.map((id) => runKeys.report(computation_id, run_id, id));
  const [snapshot, ...recorded] = await getItems(table, [runKeys.snapshot(computation_id, run_id), ...markers]);
  return snapshot && recorded.every((marker) => marker === undefined) ? parseSnapshot([snapshot]).manifest : undefined;
}
