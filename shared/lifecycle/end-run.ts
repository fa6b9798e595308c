import { system } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { keysToChange, parseToChange } from '../rows/change-computation.ts';
import { isActive, type Run, type RunReference, runReference, findRun, runKey } from '../rows/run.ts';
import { parseRefusals, removeKeyedRun } from '../rows/keyed-run.ts';
import { removeKeysOfAssets, removeServerKey } from '../rows/run-snapshot.ts';
import { giveBackRun } from '../rows/stored-approval.ts';
import { emitMetric, log } from '../runtime/log.ts';
import { cvmKeys, runKeys, type Key } from '../table/keys.ts';
import { type Item, type Table, getItem, getItems } from '../table/table.ts';
import { StaleReadError, Transaction, withFreshReads, writeFresh } from '../table/transaction.ts';
import { hasAttributes, setAttributesIf } from '../table/writes.ts';
import { failuresOf, parseProcessOfRun, parseTokens, type TokenOfProcess, tokensOfRun } from '../rows/agent-tokens.ts';
import { changeRun } from '../rows/change-run.ts';
import { claimKey, parseClaimOf, removeClaim, readClaim, changeClaim, type Claim } from '../rows/claim.ts';
import { removeCommand } from '../rows/command.ts';
import { completeTask, type Executions, completeWaitingTasks, executionName } from './executions.ts';
import { endingOf, waysToEnd, type WayToEnd, type EndedBy } from '../rows/ways-to-end.ts';
import { recordSpent } from '../rows/presence.ts';

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
