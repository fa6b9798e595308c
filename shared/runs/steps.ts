import { findRun, runKey } from './read-run.ts';
import { endRun } from './end-run.ts';
import { cvmKeys } from '../table/keys.ts';
import { getItems, type Table } from '../table/table.ts';
import { StaleReadError, transact, withFreshReads, type Action } from '../table/transaction.ts';
import { changeClaim, parseClaim, readClaim, type Ending } from './claim.ts';
import { endWait, type Executions } from './executions.ts';
import { RunIsOverError } from './run-is-over.ts';
import type { EndedBy, RunReference } from './run-reference.ts';
import { wakeForOutcome } from './wake.ts';

interface Waiting {
  run: RunReference;
  task_token: string;
}

function putCommand(run: RunReference, type: 'run' | 'stop', id: string, now: string, lifetimeInSeconds: number): Action {
  const { domain, computation_id, run_id, cvm_id } = run;
  const expires_at = new Date(Date.parse(now) + lifetimeInSeconds * 1000).toISOString();
  return {
    put: {
      Item: { ...cvmKeys.command(domain, cvm_id, run_id, type), id, type, run_id, computation_id, issued_at: now, expires_at },
    },
  };
}

/**
 * Lays the run out for its CVM, and leaves the token with the claim for the report that accepts it. Where this step is tried
 * again after its CVM has accepted, the wait ends at once.
 * @throws RunIsOverError when there is nothing to offer: the outcome is known, or the run was stopped before its offer
 */
export async function offerRun(
  table: Table,
  executions: Executions,
  { run, task_token }: Waiting,
  now: string,
  acceptInSeconds: number,
): Promise<void> {
  const rowKey = runKey(run.domain, run.run_id);
  if (!rowKey) throw new RunIsOverError();
  await withFreshReads(table, async (table) => {
    const [claimItem, runItem] = await getItems(table, [cvmKeys.claim(run.domain, run.cvm_id), rowKey]);
    const claim = parseClaim(claimItem, run.run_id);
    if (!claim || claim.outcome) throw new RunIsOverError();
    if (claim.accepted_at !== undefined) {
      await endWait(executions, task_token);
      return;
    }
    if (findRun(runItem, run.run_id)?.status !== 'running') {
      await withdrawOffer(table, run, task_token, claim.offer_token !== undefined);
      return;
    }
    const offered = {
      set: { offer_token: task_token },
      unless: ['accepted_at' as const, 'outcome' as const, 'stop_token' as const],
    };
    await transact(table, [
      changeClaim(run, offered, new StaleReadError()),
      putCommand(run, 'run', claim.run_command_id, now, acceptInSeconds),
    ]);
  });
}

/**
 * The run was stopped meanwhile. One that was never offered is over; one that was offered, by an attempt of this step whose answer
 * got lost, the CVM may hold already, so that its stop has to be waited for.
 */
async function withdrawOffer(table: Table, run: RunReference, task_token: string, wasOffered: boolean): Promise<void> {
  if (wasOffered) {
    await transact(table, [changeClaim(run, { set: { offer_token: task_token } })]);
    return;
  }
  const outcome: Ending = { status: 'cancelled', reason: 'Stopped before the run was offered to the CVM.', is_confirmed: true };
  const unoffered = { outcome, unless: ['accepted_at' as const, 'outcome' as const, 'offer_token' as const] };
  await transact(table, [changeClaim(run, unoffered, new StaleReadError())]);
  throw new RunIsOverError();
}

/**
 * Leaves the token of the run's wait with the claim. Where the outcome was faster, the wait ends at once.
 * @throws RunIsOverError
 */
export async function awaitCvm(table: Table, executions: Executions, { run, task_token }: Waiting): Promise<void> {
  await transact(table, [changeClaim(run, { set: { run_token: task_token }, remove: ['offer_token'] })]);
  const claim = await readClaim(table, run);
  if (!claim) throw new RunIsOverError();
  if (claim.outcome) await endWait(executions, task_token);
}

/**
 * Lays the stop out for the CVM, withdraws a run it has not accepted yet, and leaves the token with the claim.
 * @throws RunIsOverError
 */
export async function deliverStop(
  table: Table,
  executions: Executions,
  { run, task_token }: Waiting,
  now: string,
  stopInSeconds: number,
): Promise<void> {
  const before = await readClaim(table, run);
  if (!before) throw new RunIsOverError();
  await transact(table, [
    changeClaim(run, { set: { stop_token: task_token } }),
    { delete: { Key: cvmKeys.command(run.domain, run.cvm_id, run.run_id, 'run') } },
    putCommand(run, 'stop', before.stop_command_id, now, stopInSeconds),
  ]);
  const claim = await readClaim(table, run);
  if (!claim) throw new RunIsOverError();
  if (claim.outcome) await endWait(executions, task_token);
}

/** A stop ends, confirmed or not: the run's own execution is told, or, where that is gone, the run is ended here. */
export async function settleStop(table: Table, executions: Executions, run: RunReference, now: string): Promise<void> {
  const unconfirmed: Ending = { status: 'cancelled', reason: 'Stopped; no CVM confirmed it in time.', is_confirmed: false };
  try {
    await transact(table, [changeClaim(run, { outcome: unconfirmed })]);
  } catch (error) {
    if (error instanceof RunIsOverError) return;
    throw error;
  }
  const claim = await readClaim(table, run);
  if (claim && !(await wakeForOutcome(executions, claim))) await endRun(table, run, unconfirmed, now);
}

const reasons: Record<EndedBy, string> = {
  not_accepted: 'No CVM accepted the run in time.',
  silence: 'The CVM fell silent.',
  run_timeout: 'The run took longer than this stage allows.',
  failure: 'A step of the lifecycle failed.',
};

/** Records how a run ended: by the CVM's word, or by what ended the wait; then lets go of a stop that still waits. */
export async function recordOutcome(
  table: Table,
  executions: Executions,
  run: RunReference,
  endedBy: EndedBy | undefined,
  now: string,
): Promise<void> {
  const claim = await readClaim(table, run);
  await endRun(table, run, { status: 'failed', reason: reasons[endedBy ?? 'failure'] }, now);
  if (claim?.stop_token !== undefined) await endWait(executions, claim.stop_token);
}
