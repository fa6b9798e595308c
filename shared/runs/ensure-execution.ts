import { computationKey, findComputation } from '../computations/read-computation.ts';
import { getItem, type Table } from '../table/table.ts';
import { readClaim } from './claim.ts';
import { startExecution, type ExecutionAction, type Executions } from './executions.ts';
import { referenceTo, type RunReference } from './run-reference.ts';

interface RunOfComputation {
  domain: string;
  computationId: string;
  runId: string;
}

/**
 * Starts the execution that an earlier request to start a run left out, if the run is still running: the process may have died
 * after its transaction. Safe to repeat.
 */
export async function ensureRunExecution(table: Table, executions: Executions, run: RunOfComputation): Promise<void> {
  await ensureExecution(table, executions, run, 'run');
}

/** As ensureRunExecution, for the execution that delivers a stop, if the run is still stopping. */
export async function ensureStopExecution(table: Table, executions: Executions, run: RunOfComputation): Promise<void> {
  await ensureExecution(table, executions, run, 'stop');
}

const statusDuring = { run: 'running', stop: 'stopping' } as const;

async function ensureExecution(
  table: Table,
  executions: Executions,
  { domain, computationId, runId }: RunOfComputation,
  kind: ExecutionAction,
): Promise<void> {
  const row = findComputation(await getItem(table, computationKey(domain, computationId)), computationId);
  if (row?.status !== statusDuring[kind] || row.run?.id !== runId) return;
  await startExecutionByName(table, executions, kind, referenceTo(domain, row.run));
}

/**
 * Starts the execution of an active run or of its stop by the name that the sweep looks for, which a resumed run has in its claim.
 * Starts none if the run is over. Safe to repeat.
 */
export async function startExecutionByName(
  table: Table,
  executions: Executions,
  kind: ExecutionAction,
  run: RunReference,
): Promise<void> {
  const claim = await readClaim(table, run);
  if (claim) await startExecution(executions, kind, run, claim.resumed);
}
