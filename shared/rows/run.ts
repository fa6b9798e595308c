import { shownText } from 'computation-management-formats/fields';
import { cvmId, idOfComputation, idOfRun, numberOf } from 'computation-management-formats/identifiers';
import { timestamp } from 'computation-management-formats/timestamps';
import { reasonCodes, runStatuses } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { type RowKey, listKeys, lists } from '../table/keys.ts';
import { type Item, type Table, getItem } from '../table/table.ts';
import { parseStored } from '../table/stored.ts';

export const runStatus = v.pipe(
  v.picklist(runStatuses),
  v.description('The status of the run. `running` and `stopping`: the run is active. The others are final.'),
);

/** Returns whether a run with this status has not ended yet. */
export function isActive(status: string): boolean {
  return status === 'running' || status === 'stopping';
}

/** The longest reason for the end of a run, in characters. A CVM gives up to 1,000, and the service may add a sentence. */
export const longestReason = 1_200;

export const runSchema = v.pipe(
  v.object({
    id: idOfRun,
    computation_id: idOfComputation,
    cvm_id: v.pipe(cvmId, v.description('The CVM of the run.')),
    status: runStatus,
    started_at: v.pipe(timestamp, v.description('The start of the run.')),
    ended_at: v.pipe(v.nullable(timestamp), v.description('The end of the run. null while the run is active.')),
    started_by: v.pipe(shownText(255), v.description('The user who started the run.')),
    reason: v.pipe(
      v.nullable(shownText(longestReason)),
      v.description('The reason for the end of the run. null while the run is active.'),
    ),
    reason_code: v.pipe(
      v.nullable(v.picklist(reasonCodes)),
      v.description(
        'The kind of the end, for programs. `input_changed`: a fetched file is another than the approved one. Else null.',
      ),
    ),
    result: v.pipe(v.null_(), v.description('The state of the result under review. null without a review.')),
    manifest_digest: v.pipe(shownText(64), v.description('The digest of the manifest that the run was started with.')),
    configuration_digest: v.pipe(shownText(64), v.description('The digest of the configuration that the run was started with.')),
  }),
  v.title('Run'),
  v.description('A run of a computation on a CVM.'),
);
export type Run = v.InferOutput<typeof runSchema>;

/**
 * Schema of the identifiers of a run, its computation, CVM and domain: the input of the run's execution. The steps of the
 * execution read everything else when they need it.
 */
export const runReference = v.object({
  domain: v.string(),
  computation_id: v.string(),
  run_id: v.string(),
  cvm_id: v.string(),
});
export type RunReference = v.InferOutput<typeof runReference>;

/** Returns the identifiers of a run, its computation, CVM and domain, for the functions that read everything else themselves. */
export function referenceTo(domain: string, { id, computation_id, cvm_id }: Run): RunReference {
  return { domain, computation_id, run_id: id, cvm_id };
}

/** Returns the key of a run's row. Returns undefined if this service cannot have issued the identifier. */
export function runKey(domain: string, id: string): RowKey | undefined {
  const number = numberOf(id);
  return number === undefined ? undefined : listKeys.row(lists.runs(domain), number);
}

/** Parses the row of a run. Returns undefined if the row is missing or belongs to another run. */
export function findRun(item: Item | undefined, id: string): Run | undefined {
  return item?.['id'] === id ? parseStored(runSchema, item, 'run') : undefined;
}

/** Reads a run in one round trip. Returns undefined if there is no such run. */
export async function readRun(table: Table, domain: string, id: string): Promise<Run | undefined> {
  const key = runKey(domain, id);
  return key && findRun(await getItem(table, key), id);
}
