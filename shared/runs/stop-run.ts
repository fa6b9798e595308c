import type { Permitted, Relations } from '../http/caller.ts';
import { readToChange } from '../rows/change-computation.ts';
import type { StoredComputation } from '../rows/computation.ts';
import { type Run, referenceTo } from '../rows/run.ts';
import { readCreators } from '../rows/run-snapshot.ts';
import { conflict, ServiceError } from '../runtime/errors.ts';
import type { Table } from '../table/table.ts';
import { type UserRequest, type Committed, makeChange } from '../table/transaction.ts';
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
 * Stops the active run of a computation: changes it to `stopping`, then starts the execution that delivers the stop. A repeated call
 * starts the execution if a crash prevented that.
 * @throws ServiceError `not_found`; `conflict` if no run is active
 */
export async function stopRun(table: Table, executions: Executions, request: StopRequest): Promise<Committed<Stopping>> {
  const { domain, computationId, by, now, permit, answerKeeper } = request;
  const stopping = await makeChange(table, answerKeeper, async (table, transaction): Promise<Stopping> => {
    const computation = await readToChange(table, domain, computationId);
    const permitted = await permitStop(table, computation.row, permit);
    const { status, run } = computation.row;
    if (status === 'stopping' && run) return { run, permitted };
    if (status !== 'running' || !run) throw conflict('nothing_to_stop', 'No run of this computation is active.');

    const stopping: Run = { ...run, status: 'stopping' };
    const entry = { originator: by, details: {}, now };
    await changeRun(table, transaction, computation, { before: run, after: stopping }, entry);
    return { run: stopping, permitted };
  });
  await startExecutionByName(table, executions, 'stop', referenceTo(domain, stopping.run));
  return stopping;
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
