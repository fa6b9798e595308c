import { described, namedObject, orNull, shownText } from 'computation-management-formats/fields';
import { cvmId, idOfComputation, idOfRun, numberOf } from 'computation-management-formats/identifiers';
import { timestamp } from 'computation-management-formats/timestamps';
import { reasonCodes, runStatuses } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { resultSchema } from './result.ts';
import { type RowKey, listKeys, lists } from '../table/keys.ts';
import { type Item, type Table, getItem, getItems } from '../table/table.ts';
import { parseStored } from '../table/stored.ts';

export const runStatus = described(
  v.picklist(runStatuses),
  'The status of the run. `running` and `stopping`: the run is active. The others are final.',
);

/** Returns whether a run with this status has not ended yet. */
export function isActive(status: string): boolean {
  return status === 'running' || status === 'stopping';
}

/** The longest reason for the end of a run, in characters. A CVM gives up to 1,000, and the service may add a sentence. */
export const longestReason = 1_200;

export const runSchema = namedObject('Run', 'A run of a computation on a CVM.', {
  id: idOfRun,
  computation_id: idOfComputation,
  cvm_id: described(cvmId, 'The CVM of the run.'),
  status: runStatus,
  started_at: described(timestamp, 'The start of the run.'),
  ended_at: orNull(timestamp, 'The end of the run. null while the run is active.'),
  started_by: shownText(255, 'The user who started the run.'),
  reason: orNull(shownText(longestReason), 'The reason for the end of the run. null while the run is active.'),
  reason_code: orNull(
    v.picklist(reasonCodes),
    'The kind of the end, for programs. `input_changed`: a fetched file is another than the approved one. Else null.',
  ),
  result: orNull(resultSchema, 'The result under review. null without a review.'),
  manifest_digest: shownText(64, 'The digest of the manifest that the run was started with.'),
  configuration_digest: shownText(64, 'The digest of the configuration that the run was started with.'),
});
export type Run = v.InferOutput<typeof runSchema>;

/**
 * Schema of the identifiers of a run, its computation, CVM and domain: the input of the run's execution. The steps of the
 * execution read everything else when they need it.
 */
export const runReference = v.object({ ...v.entriesFromList(['domain', 'computation_id', 'run_id', 'cvm_id'], v.string()) });
export type RunReference = v.InferOutput<typeof runReference>;

/** The identifiers of a run and its computation. */
export type OfRun = Pick<RunReference, 'computation_id' | 'run_id'>;

/** Returns the identifiers of a run, its computation, CVM and domain, for the functions that read everything else themselves. */
export function referenceTo(domain: string, { id, computation_id, cvm_id }: Run): RunReference {
  return { domain, computation_id, run_id: id, cvm_id };
}

/** Returns the key of a run's row. No row has the key of an identifier that this service cannot have issued. */
export function runKey(domain: string, id: string): RowKey {
  return listKeys.row(lists.runs(domain), numberOf(id) ?? 0); // rows are numbered from 1
}

/** Parses the row of a run. Returns undefined if the row is missing or belongs to another run. */
export function findRun(item: Item | undefined, id: string): Run | undefined {
  return item?.['id'] === id ? parseStored(runSchema, item, 'run') : undefined;
}

/** Reads a run in one round trip. Returns undefined if there is no such run. */
export async function readRun(table: Table, domain: string, id: string): Promise<Run | undefined> {
  return findRun(await getItem(table, runKey(domain, id)), id);
}

/** Reads runs of a domain in one round trip, in the order of their identifiers. Leaves out those that do not exist. */
export async function readRuns(table: Table, domain: string, ids: readonly string[]): Promise<Run[]> {
  const keys = ids.map((id) => runKey(domain, id));
  const rows = await getItems(table, keys);
  return ids.flatMap((id, at) => findRun(rows[at], id) ?? []);
}
