import type { CoveredReview } from 'computation-management-formats/consent';
import type { Permitted, Relations } from '../http/caller.ts';
import { type ComputationToChange, keysToChange, parseToChange } from '../rows/change-computation.ts';
import type { ResultOfRun } from '../rows/result.ts';
import { findRun, type Run, runKey } from '../rows/run.ts';
import { parseSnapshot, type RunSnapshot } from '../rows/run-snapshot.ts';
import { conflict, notFound, ServiceError } from '../runtime/errors.ts';
import { runKeys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { readSettled, type UserRequest } from '../table/transaction.ts';

/** A completed run whose result is under review, read to change it. */
export interface ReviewedRun {
  computation: ComputationToChange;
  run: Run & { result: ResultOfRun };
  review: CoveredReview;
  snapshot: RunSnapshot;
  permitted: Permitted;
}

/** A request about the result of a run. */
export interface ResultRequest extends UserRequest {
  computationId: string;
  runId: string;
  permit: (relations: Relations) => Permitted;
}

/**
 * Reads a run whose result a reviewer hands in or decides on. One round trip.
 * @throws ServiceError `not_found`; `forbidden` for others than the run's reviewers; `conflict` if the run has not completed
 */
export async function readReviewedRun(table: Table, request: ResultRequest): Promise<ReviewedRun> {
  const { domain, computationId, runId, by, permit } = request;
  const snapshotKey = runKeys.snapshot(computationId, runId);
  const [row, head, runItem, item] = await readSettled(table, [
    ...keysToChange(domain, computationId),
    runKey(domain, runId),
    snapshotKey,
  ]);
  const computation = parseToChange(domain, computationId, [row, head]);
  const run = findRun(runItem, runId);
  if (run?.computation_id !== computationId || !item) throw notFound('run of this computation');
  const snapshot = parseSnapshot([item]);
  const { result_review: review } = snapshot;
  const { result } = run;
  if (review?.consumers.includes(by) && result) throw new ServiceError('forbidden', standOf(run, result, review));
  const permitted = permit({ reviewer: review?.reviewers ?? [] });
  if (!review || !result) throw conflict('no_result', 'The run has no review of its result.', runId);
  if (run.status !== 'completed') {
    throw conflict('run_not_completed', `The run is ${run.status}. Only a completed run has a result.`, runId);
  }
  return { computation, run: { ...run, result }, review, snapshot, permitted };
}

/** Says to a consumer of a result why it is not there yet, or that it is. */
function standOf({ status }: Run, { state, asset, decisions }: ResultOfRun, { needed, reviewers }: CoveredReview): string {
  const released = decisions.filter(({ decision }) => decision === 'release').length;
  const texts = {
    awaiting_file: 'No reviewer has handed in the result yet, or its file has not arrived.',
    under_review: `The result is under review: ${needed} of ${reviewers.length} reviewers must release it, and ${released} did.`,
    released: `The result is released: get the asset ${asset ?? ''}.`,
    withheld: 'The reviewers withheld the result.',
  };
  const stand = status === 'completed' ? texts[state] : `The run is ${status}. Only a completed run has a result.`;
  return `Only reviewers hand in and decide. ${stand}`;
}
