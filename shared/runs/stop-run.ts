import type { Permitted, Relations } from '../http/caller.ts';
import { readToChange } from '../rows/change-computation.ts';
import type { StoredComputation } from '../rows/computation.ts';
import { type Run, referenceTo } from '../rows/run.ts';
import { readCreators } from '../rows/run-snapshot.ts';
import { conflict, ServiceError } from '../runtime/errors.ts';
import type { Table } from '../table/table.ts';
import { commitChange, type UserRequest, type Committed, Transaction, withFreshReads } from '../table/transaction.ts';
import { changeRun } from '../rows/change-run.ts';
import { startExecutionByName, type Executions } from '../lifecycle/index.ts';

interface Stopping {
  run: Run;
  permitted: Permitted;
}

interface StopRequest extends UserRequest {
  computationId: string;
  /**
   * Checks that the caller may stop the active run. Called before anything about the computation is revealed. Throws to refuse
   * the request.
   */
  permit: (parties: Relations) => Permitted;
}

/**
 * Stops the active run of a computation: records the request, then starts the execution that delivers the stop. A repeated call
 * starts the execution if a crash prevented that.
 * @throws ServiceError `not_found`; `conflict` if no run is active
 */
export async function stopRun(table: Table, executions: Executions, request: StopRequest): Promise<Committed<Stopping>> {
  const stopping = await withFreshReads(table, (table) => requestStop(table, request));
  await startExecutionByName(table, executions, 'stop', referenceTo(request.domain, stopping.run));
  return stopping;
}

/**
 * Changes an active run to `stopping`, unless the run is stopping already.
 * @throws ServiceError `not_found`; `conflict` if no run is active
 */
async function requestStop(
  table: Table,
  { domain, computationId, by, now, permit, answerKeeper }: StopRequest,
): Promise<Committed<Stopping>> {
  const computation = await readToChange(table, domain, computationId);
  const permitted = await permitStop(table, computation.row, permit);
  const { status, run } = computation.row;
  const transaction = new Transaction();
  if (status === 'stopping' && run) return await commitChange(table, transaction, { run, permitted }, answerKeeper);
  if (status !== 'running' || !run) throw conflict('nothing_to_stop', 'No run of this computation is active.');

  const stopping: Run = { ...run, status: 'stopping' };
  const entry = { originator: by, details: {}, now };
  await changeRun(table, transaction, computation, { before: run, after: stopping }, entry);
  return await commitChange(table, transaction, { run: stopping, permitted }, answerKeeper);
}

/**
 * Checks that the caller may stop the run: as the owner or by an action, otherwise as the creator of an asset of the run. Reads
 * the creators only in the latter case.
 * @throws ServiceError `forbidden`
 */
async function permitStop(table: Table, { owner, run }: StoredComputation, permit: StopRequest['permit']): Promise<Permitted> {
  try {
    return permit({ owner });
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'forbidden') || !run) throw error;
    const { id: run_id, computation_id } = run;
    return permit({ owner, creator: await readCreators(table, { computation_id, run_id }) });
  }
}
