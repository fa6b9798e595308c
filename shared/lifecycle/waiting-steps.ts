import { cancelDeletions } from '../assets/index.ts';
import { assetsOfRun } from '../rows/run-snapshot.ts';
import { runKeys } from '../table/keys.ts';
import { type Table, getItems } from '../table/table.ts';
import { Transaction, writeFresh } from '../table/transaction.ts';
import { changeClaim, claimKey, parseClaimOf, type Claim, readClaim } from '../rows/claim.ts';
import { addCommand, removeCommand } from '../rows/command.ts';
import { completeTask, failTaskAsOver, type Executions } from './executions.ts';
import type { WaitingStep } from './state-machine.ts';
import { type Ending, endingOf, waysToEnd } from '../rows/ways-to-end.ts';
import { findRun, runKey } from '../rows/run.ts';

/**
 * Offers a run to its CVM as a command. The task of this step in the state machine waits until the CVM accepts. Completes the
 * task if the CVM accepted an earlier attempt. Fails it with the error RunIsOver if the run has an outcome, was stopped or has
 * lost an asset to a deletion.
 */
export async function offerRun(
  table: Table,
  executions: Executions,
  { run, task_token }: WaitingStep,
  { now, acceptInSeconds }: { now: string; acceptInSeconds: number },
): Promise<void> {
  await writeFresh(table, async (table, transaction) => {
    const keys = [runKey(run.domain, run.run_id), runKeys.snapshot(run.computation_id, run.run_id), claimKey(run)];
    const [runItem, snapshot, claimItem] = await getItems(table, keys);
    const claim = parseClaimOf(run, claimItem);
    if (!claim || claim.outcome) return await failTaskAsOver(executions, task_token);
    if (claim.accepted_at !== undefined) {
      await completeTask(executions, task_token);
      return;
    }
    if (findRun(runItem, run.run_id)?.status !== 'running') return await withdrawOffer(table, executions, claim, task_token);
    if (claim.offer_token === undefined) {
      const [deleted] = await cancelDeletions(table, run.domain, assetsOfRun(snapshot));
      if (deleted !== undefined) {
        const outcome = endingOf(waysToEnd.offerRun.assetDeleted, 'running', deleted);
        return await endBeforeOffer(table, executions, claim, { task_token, outcome });
      }
    }

    changeClaim(transaction, claim, { set: { offer_token: task_token }, unless: ['accepted_at', 'outcome', 'stop_token'] });
    addCommand(transaction, run, { type: 'run', id: claim.run_command_id, now, lifetimeInSeconds: acceptInSeconds });
  });
}

/**
 * Handles the offer of a run that was stopped before. If an earlier attempt offered the run, the CVM may have it, so the task
 * waits for the stop. Otherwise the run is over.
 */
async function withdrawOffer(table: Table, executions: Executions, claim: Claim, task_token: string): Promise<void> {
  if (claim.offer_token !== undefined) {
    const transaction = new Transaction();
    changeClaim(transaction, claim, { set: { offer_token: task_token }, unless: ['accepted_at', 'outcome'] });
    await transaction.commit(table);
    return;
  }
  const outcome = endingOf(waysToEnd.offerRun.stopped, 'stopping');
  await endBeforeOffer(table, executions, claim, { task_token, outcome });
}

/** Records how a run ends that was never offered to its CVM, and fails the waiting task with the error RunIsOver. */
async function endBeforeOffer(
  table: Table,
  executions: Executions,
  claim: Claim,
  { task_token, outcome }: { task_token: string; outcome: Ending },
): Promise<void> {
  const transaction = new Transaction();
  changeClaim(transaction, claim, { set: { outcome }, unless: ['accepted_at', 'outcome', 'offer_token'] });
  await transaction.commit(table);
  await failTaskAsOver(executions, task_token);
}

/** Records that the state machine waits for the CVM to finish the run. The report with the outcome completes the task. */
export async function awaitCvm(table: Table, executions: Executions, step: WaitingStep): Promise<void> {
  await storeTaskToken(table, executions, step, (transaction, claim) => {
    changeClaim(transaction, claim, { set: { run_token: step.task_token }, remove: ['offer_token'], unless: ['outcome'] });
  });
}

/**
 * Adds the stop command for the CVM and withdraws an offer that the CVM has not accepted. The CVM's answer completes the task.
 */
export async function deliverStop(
  table: Table,
  executions: Executions,
  step: WaitingStep,
  { now, stopInSeconds }: { now: string; stopInSeconds: number },
): Promise<void> {
  const { run, task_token } = step;
  await storeTaskToken(table, executions, step, (transaction, claim) => {
    changeClaim(transaction, claim, { set: { stop_token: task_token }, unless: ['outcome'] });
    removeCommand(transaction, run, 'run');
    addCommand(transaction, run, { type: 'stop', id: claim.stop_command_id, now, lifetimeInSeconds: stopInSeconds });
  });
}

/**
 * Stores the token by which the waiting task of a run is completed. Completes the task at once if the run has an outcome, and
 * fails it with the error RunIsOver if the run is over.
 * @param add adds the token; it must change the claim of the CVM only while it has no outcome
 */
async function storeTaskToken(
  table: Table,
  executions: Executions,
  { run, task_token }: WaitingStep,
  add: (transaction: Transaction, claim: Claim) => void,
): Promise<void> {
  const isWaiting = await writeFresh(table, async (table, transaction) => {
    const claim = await readClaim(table, run);
    if (!claim) {
      await failTaskAsOver(executions, task_token);
      return false;
    }
    if (claim.outcome) {
      await completeTask(executions, task_token);
      return false;
    }
    add(transaction, claim);
    return true;
  });
  if (isWaiting && !(await readClaim(table, run))) await completeTask(executions, task_token); // the run has ended since
}
