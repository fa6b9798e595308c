import * as v from 'valibot';
import { cancelDeletions } from '../rows/asset.ts';
import { assetsOfRun, removeKeysOfAssets, removeServerKey } from '../rows/run-snapshot.ts';
import { runKeys, cvmKeys, type Key } from '../table/keys.ts';
import { type Table, getItems, type Item, getItem } from '../table/table.ts';
import { Transaction, writeFresh, StaleReadError, withFreshReads } from '../table/transaction.ts';
import { changeClaim, claimKey, parseClaimOf, type Claim, readClaim, removeClaim } from '../rows/claim.ts';
import { addCommand, removeCommand } from '../rows/command.ts';
import { completeTask, failTaskAsOver, type Executions, completeWaitingTasks, executionName } from './executions.ts';
import type { WaitingStep } from './state-machine.ts';
import {
  type EndedBy,
  type Ending,
  endingOf,
  findRun,
  isActive,
  type Run,
  runKey,
  type RunReference,
  runReference,
  waysToEnd,
  type WayToEnd,
} from '../rows/run.ts';
import { system } from 'computation-management-formats/vocabulary';
import { keysToChange, parseToChange } from '../rows/change-computation.ts';
import { parseRefusals, removeKeyedRun } from '../rows/asset-key.ts';
import { giveBackRun } from '../rows/stored-approval.ts';
import { emitMetric, log } from '../runtime/log.ts';
import { hasAttributes, setAttributesIf } from '../table/writes.ts';
import { failuresOf, parseProcessOfRun, parseTokens, type TokenOfProcess, tokensOfRun } from '../rows/agent-tokens.ts';
import { changeRun } from '../rows/change-run.ts';
import { recordSpent } from '../rows/cvm.ts';

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

/**
 * Ends a run, in one transaction with its status, lists, statistics and last event. Every run ends here. An outcome that was
 * recorded before, such as one that the CVM has reported, counts before `way`. A run whose attestation tokens do not satisfy its
 * policy by then ends as failed. The last event names the tokens that count for evidence, and says if no CVM accepted the run: then the run
 * uses none of the runs of its approvals. Safe to repeat.
 * @param detail what is known of the cause: see WayToEnd
 * @returns whether this call ended the run
 */
export async function endRun(
  table: Table,
  reference: RunReference,
  { way, detail }: { way: WayToEnd; detail?: string },
  now: string,
): Promise<boolean> {
  const { domain, computation_id, run_id, cvm_id } = reference;
  return await withFreshReads(table, async (table) => {
    const ofRun = runKeys.attestation(computation_id, run_id);
    const ofComputation = [runKey(domain, run_id), ...keysToChange(domain, computation_id)];
    const keys = [...ofComputation, cvmKeys.cvm(domain, cvm_id), claimKey(reference), ofRun];
    const [runItem, row, head, registered, claimItem, attestationItem] = await getItems(table, keys);
    const run = findRun(runItem, run_id);
    const claim = parseClaimOf(reference, claimItem);
    if (!run || !isActive(run.status)) return false;
    const computation = parseToChange(domain, computation_id, [row, head]);
    const attested = await readAttested(table, attestationItem);
    const known = claim?.outcome ?? endingOf(way, run.status, detail);
    const failures = known.status === 'completed' ? attested.failures : undefined;
    const ending = failures === undefined ? known : endingOf(waysToEnd.failRun.notAttested, run.status, failures);
    const { status, reason_code, is_confirmed } = ending;
    const isOfKey = claim?.has_asset_keys && status === 'failed' && reason_code === undefined;
    const reason = (isOfKey && (await readRefusal(table, reference))) || ending.reason;

    const ended: Run = { ...run, status, ended_at: now, reason, reason_code: reason_code ?? null };
    const isUnaccepted = claim !== undefined && claim.accepted_at === undefined;
    const token_hashes = attested.tokens.map(({ hash }) => hash);
    const details = {
      reason,
      ...(reason_code === undefined ? {} : { reason_code }),
      ...(token_hashes.length > 0 && { token_hashes }),
      ...(is_confirmed === undefined ? {} : { confirmed: is_confirmed }),
      ...(isUnaccepted && { accepted: false }),
    };
    const transaction = new Transaction();
    if (attested.process !== undefined) freezeTokens(transaction, ofRun, attested);
    await changeRun(table, transaction, computation, { before: run, after: ended }, { originator: system, details, now });
    if (claim) removeClaim(transaction, claim);
    recordSpent(transaction, reference, { item: registered, acceptedAt: claim?.accepted_at, now });
    if (claim?.has_server_key !== false) removeServerKey(transaction, reference);
    if (claim?.has_asset_keys !== false) {
      await removeKeysOfAssets(table, transaction, reference);
      removeKeyedRun(transaction, reference);
    }
    if (isUnaccepted) await giveBackRun(table, transaction, reference);
    removeCommand(transaction, reference, 'run');
    removeCommand(transaction, reference, 'stop');
    await transaction.commit(table);
    emitMetric('RunsEnded', 1, { outcome: status });
    if (status === 'failed') log('INFO', 'A run failed.', { domain, computation_id, run_id, cvm_id, reason });
    return true;
  });
}

/** Reads the newest sentence by which a run was refused a key that it did not get since. The agent fails without it, and says less. */
async function readRefusal(table: Table, { computation_id, run_id }: RunReference): Promise<string | undefined> {
  return parseRefusals(await getItem(table, runKeys.refusals(computation_id, run_id))).open.at(-1)?.sentence;
}

/**
 * Reads the attestation tokens that count for a run as it ends, and the checks of its attestation policy that they fail. One round
 * trip, or none if no agent process of the run is known.
 * @param item read at `runKeys.attestation`
 */
async function readAttested(table: Table, item: Item | undefined) {
  const ofRun = parseProcessOfRun(item);
  if (!ofRun) return { process: undefined, tokens: [], failures: undefined };
  const { domain, cvmId, process, attestation_policy } = ofRun;
  const tokens = tokensOfRun(ofRun, parseTokens(await getItem(table, cvmKeys.process(domain, cvmId, process))));
  return { process, tokens, failures: attestation_policy && failuresOf(tokens, attestation_policy) };
}

/**
 * Adds to the transaction which attestation tokens count for a run that ends. It then fails with StaleReadError if the gateway has
 * recorded another agent process since.
 */
function freezeTokens(
  transaction: Transaction,
  Key: Key,
  { process, tokens }: { process: string; tokens: TokenOfProcess[] },
): void {
  const update = { Key, ...setAttributesIf(hasAttributes({ process }), { frozen: tokens }) };
  transaction.add({ update, otherwise: StaleReadError });
}

/**
 * Ends a run with the outcome that was recorded for it, or as failed by `endedBy` if there is none. Completes the task of a stop
 * that still waits.
 */
export async function recordOutcome(
  table: Table,
  executions: Executions,
  { run, endedBy = 'failure' }: { run: RunReference; endedBy?: EndedBy | undefined },
  now: string,
): Promise<void> {
  const claim = await readClaim(table, run);
  await endRun(table, run, { way: waysToEnd.recordOutcome[endedBy] }, now);
  if (claim?.stop_token !== undefined) await completeTask(executions, claim.stop_token);
}

/**
 * Ends a run that was stopped, whether the CVM confirmed the stop or not: records the outcome and lets the execution of the run
 * end the run. Ends the run itself if no task of the run waits.
 */
export async function completeStop(table: Table, executions: Executions, run: RunReference, now: string): Promise<void> {
  const way = waysToEnd.completeStop.unconfirmed;
  await writeFresh(table, async (table, transaction) => {
    const claim = await readClaim(table, run);
    if (!claim || claim.outcome) return;
    changeClaim(transaction, claim, { set: { outcome: endingOf(way, 'stopping') }, unless: ['outcome'] });
  });
  const claim = await readClaim(table, run); // read again: it contains the tokens that were stored before it had an outcome
  if (claim && !(await completeWaitingTasks(executions, claim))) await endRun(table, run, { way }, now);
}

const input = v.object({ ...runReference.entries, action: v.picklist(['run', 'stop']) });

/** The schema of EventBridge's event `Step Functions Execution Status Change`. */
export const executionStatusChange = v.object({
  detail: v.object({ name: v.string(), status: v.string(), input: v.pipe(v.string(), v.parseJson(), input) }),
});
type ExecutionStatusChange = v.InferOutput<typeof executionStatusChange>;

/**
 * Ends the run of an execution that was aborted, timed out or failed. Changes nothing if the run was resumed and goes on in a
 * later execution.
 */
export async function executionEnded(
  table: Table,
  executions: Executions,
  change: ExecutionStatusChange,
  now: string,
): Promise<void> {
  const {
    name,
    status,
    input: { action, ...run },
  } = change.detail;
  const claim = await readClaim(table, run);
  if (claim && name !== executionName(action, run.run_id, claim.resumed)) {
    log('INFO', 'The run continues in another execution.', { execution: name });
    return;
  }
  if (action === 'stop') await completeStop(table, executions, run, now);
  else await endRun(table, run, { way: waysToEnd.executionEnded.executionEnded, detail: status }, now);
}

/**
 * Ends a run as failed for a given reason, such as that its CVM does not satisfy the attestation policy. An outcome that the run
 * already has counts instead. Safe to repeat.
 */
export async function failRun(table: Table, executions: Executions, run: Claim, reason: string): Promise<void> {
  const claim = await withFreshReads(table, async (table) => {
    const claim = await readClaim(table, run);
    if (!claim || claim.outcome) return claim;
    const transaction = new Transaction();
    const status = claim.stop_token === undefined ? 'running' : 'stopping';
    const outcome = endingOf(waysToEnd.failRun.notAttested, status, reason);
    changeClaim(transaction, claim, { set: { outcome }, unless: ['outcome'] });
    await transaction.commit(table);
    return await readClaim(table, run); // it has the tokens that were stored before it had an outcome
  });
  if (claim) await completeWaitingTasks(executions, claim);
}
