import { readComputation } from '../computations/read-computation.ts';
import type { Run } from '../computations/run.ts';
import { notFound } from '../errors.ts';
import type { Table } from '../table/table.ts';
import { readRun } from '../computations/read-run.ts';

/**
 * Reads a run of a computation. Without `runId`, reads the latest run. One round trip.
 * @throws ServiceError `not_found` if the computation does not exist, was never run or has no such run
 */
export async function readRunOfComputation(
  table: Table,
  domain: string,
  computationId: string,
  runId: string | undefined,
): Promise<Run> {
  const [computation, older] = await Promise.all([
    readComputation(table, domain, computationId),
    runId === undefined ? undefined : readRun(table, domain, runId),
  ]);
  const run = runId === undefined ? computation.run : older;
  if (run?.computation_id !== computationId) throw notFound('run of this computation');
  return run;
}
