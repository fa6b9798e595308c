import type { Permitted } from '../access/caller.ts';
import { readToChange } from '../computations/change-computation.ts';
import type { StoredComputation } from '../computations/computation.ts';
import type { Run } from '../computations/run.ts';
import { conflict } from '../errors.ts';
import type { Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import { changeRun } from './change-run.ts';
import { startExecution, type Executions } from './executions.ts';

interface Stopping {
  run: Run;
  permitted: Permitted;
}

interface StopRequest {
  domain: string;
  computationId: string;
  by: string;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
  /** Called with the computation before anything about it is revealed. Throws to refuse the request. */
  permit: (computation: StoredComputation) => Permitted;
}

/**
 * Stops the active run of a computation. One transaction writes the status and the `stop_requested` event. Then the execution
 * starts that delivers the stop. A repeated call while the run stops returns the same result, and starts the execution if a
 * crash prevented that.
 * @throws ServiceError `not_found`; `conflict` if no run is active
 */
export async function stopRun(table: Table, executions: Executions, request: StopRequest): Promise<Stopping> {
  const stopping = await withFreshReads(table, (table) => requestStop(table, request));
  const { run } = stopping;
  await startExecution(executions, 'stop', {
    domain: request.domain,
    computation_id: run.computation_id,
    run_id: run.id,
    cvm_id: run.cvm_id,
  });
  return stopping;
}

async function requestStop(table: Table, { domain, computationId, by, now, permit }: StopRequest): Promise<Stopping> {
  const computation = await readToChange(table, domain, computationId);
  const permitted = permit(computation.row);
  const { status, run } = computation.row;
  if (status === 'stopping' && run) return { run, permitted };
  if (status !== 'running' || !run) throw conflict('nothing_to_stop', 'No run of this computation is active.');

  const stopping: Run = { ...run, status: 'stopping' };
  const transaction = new Transaction();
  const entry = { originator: by, details: {}, now };
  await changeRun(table, transaction, computation, { before: run, after: stopping }, entry);
  await transaction.commit(table);
  return { run: stopping, permitted };
}
