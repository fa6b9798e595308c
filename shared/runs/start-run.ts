import { randomUUID } from 'node:crypto';
import { configurationOf } from 'computation-management-formats/consent';
import { startDigest } from 'computation-management-formats/digests';
import { numberedId } from 'computation-management-formats/identifiers';
import { processOfRunItem } from '../rows/agent-tokens.ts';
import type { Permitted } from '../http/caller.ts';
import { isIncomplete, readinessOf, keysWithoutPolicy, type CvmOfRun } from '../approvals/index.ts';
import { isMarkedForDeletion } from '../rows/asset.ts';
import { readToChange, type ComputationToChange } from '../rows/change-computation.ts';
import type { StoredComputation } from '../rows/computation.ts';
import { isActive, type Run, type RunReference, waysToEnd } from '../rows/run.ts';
import { JournalMovedError } from '../journal/append-events.ts';
import { readHead } from '../journal/journal.ts';
import { nextNumber } from '../table/writes.ts';
import { assetsOf, type Inputs, readInputs } from '../rows/manifest.ts';
import { noResult } from '../rows/result.ts';
import { type KeyOfRun, parseSecret, addKeyedRun } from '../rows/asset-key.ts';
import { addSnapshot, type RunSnapshot } from '../rows/run-snapshot.ts';
import { countRun } from '../rows/stored-approval.ts';
import { ServiceError, conflict } from '../runtime/errors.ts';
import { emitMetric, log } from '../runtime/log.ts';
import { assetKeys, lists, cvmKeys } from '../table/keys.ts';
import { deadlineOf, type Table, getItemsOf } from '../table/table.ts';
import {
  commitChange,
  type UserRequest,
  type Committed,
  Transaction,
  StaleReadError,
  withFreshReads,
  type Action,
  readSettled,
} from '../table/transaction.ts';
import { addRun } from '../rows/change-run.ts';
import { addClaim, claimKey, parseClaim, type Claim } from '../rows/claim.ts';
import { endRun, type Executions, startExecution } from '../lifecycle/index.ts';
import { plainName } from 'computation-management-formats/quoted-name';
import { judgeTokens } from '../attestation/index.ts';
import { openContentStore } from '../rows/content-store.ts';
import { withGatewayLeases } from '../rows/gateway-lease.ts';
import { parsePresence, whyNotReady, type StoredPresence, attestationOf, type CvmAttestation } from '../rows/cvm.ts';

interface Started {
  runId: string;
  reference: RunReference;
  permitted: Permitted;
}

interface RunRequest extends UserRequest {
  computationId: string;
  cvmId: string;
  /**
   * Checks that the caller may start a run of the computation. Called before anything about the computation is revealed. Throws
   * to refuse the request.
   */
  permit: (computation: StoredComputation) => Permitted;
}

/**
 * Starts a run of a computation on a CVM: records in a transaction that the run holds the CVM, then starts the execution. If the
 * process dies between them, a repeat of the request starts the execution, or the sweep ends the run.
 * @throws ServiceError `not_found`; `conflict` if the computation or the CVM has an active run, or the CVM is disconnected, not
 *   attested, or must restart its agent first; `incomplete` with what is missing; `unavailable`, also while an asset is about to
 *   be deleted
 */
export async function startRun(table: Table, executions: Executions, request: RunRequest): Promise<Committed<Started>> {
  const started = await withFreshReads(table, (table) => claimCvm(table, request));
  const { reference } = started;
  try {
    await startExecution(executions, 'run', reference);
  } catch (error) {
    // With an Idempotency-Key, the repeat starts the run: its answer is kept.
    if (!request.answerKeeper) await endUnstarted(table, reference, request.now);
    throw error;
  }
  emitMetric('RunsStarted', 1);
  return started;
}

/** Ends a run whose execution could not be started. A failure is only logged: the caller gets the error of the start. */
async function endUnstarted(table: Table, reference: RunReference, now: string): Promise<void> {
  const deadline = deadlineOf(table).next();
  try {
    await endRun({ ...table, deadline: () => deadline }, reference, { way: waysToEnd.startRun.notStarted }, now);
  } catch (error) {
    log('ERROR', 'A run that could not be started was not ended. The sweep ends it.', { run_id: reference.run_id }, error);
  }
}

/**
 * Checks whether a run can start, and records in one transaction the run and that it holds its CVM. Repeats the transaction if
 * only the journal of events has changed.
 */
async function claimCvm(table: Table, request: RunRequest): Promise<Committed<Started>> {
  const { domain, computationId, cvmId, by, now, permit } = request;
  // Read first, so that its version guards the inputs.
  const computation = await readToChange(table, domain, computationId);
  const permitted = permit(computation.row);
  const [inputs, cvmForRun] = await Promise.all([
    readInputs(table, domain, computation.row),
    readCvmForRun(table, { domain, cvm_id: cvmId }, now),
  ]);
  const judged = await judgeCvm(table, inputs, { domain, cvm: cvmForRun }, now);
  const [refusal] = refusalsOf(inputs, cvmForRun, judged, now);
  if (refusal) throw refusal;
  snapshotOf({ computation, inputs, cvm: cvmForRun }, table, now);
  // An asset that is being deleted: the start is tried again, because the deletion may still be refused. The first step of the
  // execution, offerRun, finds what is deleted later.
  if (assetsOf(inputs).some((asset) => isMarkedForDeletion(asset, now))) throw new StaleReadError();
  const keys = await readKeys(table, inputs);
  const run_id = numberedId(await nextNumber(table, lists.runs(domain)));
  const reference: RunReference = { domain, computation_id: computationId, run_id, cvm_id: cvmId };
  for (let { head } = computation; ; head = await readHead(table, computationId)) {
    try {
      const found = { computation: { ...computation, head }, inputs, cvm: cvmForRun, judged, keys };
      const transaction = await transactionOf(table, reference, found, { by, now });
      return await commitChange(table, transaction, { runId: run_id, reference, permitted }, request.answerKeeper);
    } catch (error) {
      if (!(error instanceof JournalMovedError)) throw error;
      // Any user with `view` can append again and again. So the pauses do not grow, and what was read is read only if it changed.
      await deadlineOf(table).pause(1, error);
    }
  }
}

/** Everything that was read before the transaction that starts a run. */
interface Found {
  computation: ComputationToChange;
  inputs: Inputs;
  cvm: Awaited<ReturnType<typeof readCvmForRun>>;
  judged: JudgedTokens | undefined;
  /** The keys of the assets, which the run keeps. */
  keys: KeyOfRun[];
}

/**
 * Returns the snapshot that a run keeps from its start: its manifest, configuration, assets and approvals.
 * @throws ServiceError `incomplete` if the computation is not ready to run
 */
function snapshotOf({ computation, inputs, cvm }: Omit<Found, 'judged' | 'keys'>, table: Table, now: string): RunSnapshot {
  const { snapshot, missing } = readinessOf(inputs, { at: timeOfStart(table, now, computation), cvm });
  if (snapshot && !isIncomplete(missing)) return snapshot;
  throw new ServiceError('incomplete', 'The computation is not ready to run: something is missing.', { missing_items: missing });
}

/**
 * Reads the keys of the assets of a run, which the run keeps. One round trip, or none without keys.
 * @throws StaleReadError if a key has changed since the assets were read
 */
async function readKeys(table: Table, inputs: Inputs): Promise<KeyOfRun[]> {
  const assets = assetsOf(inputs).flatMap(({ id, created_by, key }) => (key ? [{ id, created_by, key }] : []));
  const items = await getItemsOf(table, assets, ({ id }) => assetKeys.key(id));
  return assets.map(({ id, created_by, key }, index) => ({
    asset: id,
    creator: created_by,
    ...key,
    releases: 0,
    key: parseSecret(items[index], key),
  }));
}

/**
 * Returns the transaction that starts a run: its row, its snapshot of the manifest and approvals, its first event, and the note
 * that the run holds the CVM.
 * @throws ServiceError `incomplete`, since an approval may have expired
 */
async function transactionOf(table: Table, reference: RunReference, found: Found, { by, now }: { by: string; now: string }) {
  const { computation, inputs, cvm, judged, keys } = found;
  const { domain, computation_id, cvm_id } = reference;
  const snapshot = snapshotOf(found, table, now);
  const policy = inputs.attestation_policy;
  const run: Run = {
    id: reference.run_id,
    computation_id,
    cvm_id,
    status: 'running',
    started_at: now,
    ended_at: null,
    started_by: by,
    reason: null,
    reason_code: null,
    result: snapshot.result_review && noResult,
    manifest_digest: snapshot.manifest_digest,
    configuration_digest: snapshot.configuration_digest,
  };
  const details = {
    manifest_digest: snapshot.manifest_digest,
    configuration_digest: snapshot.configuration_digest,
    start_digest: startDigest({ ...snapshot, configuration: configurationOf(snapshot) }),
    ...(policy?.allow_reconnect ? { allow_reconnect: true } : {}), // the run may go on over later connections
  };
  const transaction = new Transaction();
  await addRun(table, transaction, computation, run, { originator: by, details, now });
  addSnapshot(transaction, reference, snapshot, keys);
  if (keys.length > 0) addKeyedRun(transaction, reference, keys);
  countRun(transaction, reference, { approvals: inputs.approvals, used: inputs.used_runs, counting: snapshot.approvals });
  const token_hash = policy ? cvm.attestation.shown?.token_hash : undefined;
  const { process } = cvm.attestation;
  const isStill = cvmIsStill({ domain, cvm_id }, { certificate: cvm.certificate, token_hash, process });
  transaction.add(isStill, ...(judged?.checks ?? []));
  if (policy && judged && process !== undefined) {
    const ofRun = { domain, computation_id, run_id: run.id, cvmId: cvm_id, process };
    const Item = processOfRunItem({ ...ofRun, attestation_policy: policy, judged: judged.tokens });
    transaction.add({ put: { Item } });
  }
  addClaim(transaction, {
    ...reference,
    claimed_at: now,
    run_command_id: randomUUID(),
    stop_command_id: randomUUID(),
    has_server_key: inputs.agent_config.server_key !== '',
    has_asset_keys: keys.length > 0,
    ...(token_hash === undefined ? {} : { token_hash, process }),
  });
  return transaction;
}

/**
 * Returns the time by which approvals must not have expired: the present, or the time of the `started` event if that is later.
 */
function timeOfStart(table: Table, now: string, { head }: ComputationToChange): string {
  const present = new Date(Date.parse(now) + deadlineOf(table).elapsed).toISOString();
  return present > head.last_at ? present : head.last_at; // defence
}

/** The properties of a CVM that decide whether a run can start on it. */
interface CvmForRun extends CvmOfRun {
  /** The last signs of life of the CVM, and whether its agent can take a run. Undefined if the CVM is not registered. */
  presence: StoredPresence | undefined;
  claim: Claim | undefined;
  attestation: CvmAttestation;
}

/**
 * Reads the state of a CVM for the start of a run, while no transaction is writing it, because the end of a run changes two items
 * at once: it frees the CVM and notes that its agent must be restarted. One round trip, or two if a gateway holds the CVM.
 */
export async function readCvmForRun(table: Table, cvm: { domain: string; cvm_id: string }, now: string): Promise<CvmForRun> {
  const [registered, claimItem] = await readSettled(table, [cvmKeys.cvm(cvm.domain, cvm.cvm_id), claimKey(cvm)]);
  const [presence] = registered ? await withGatewayLeases(table, [parsePresence(registered)], now) : [];
  return {
    id: cvm.cvm_id,
    certificate: presence?.certificate_fingerprint ?? undefined,
    pem: presence?.certificate ?? undefined,
    presence,
    claim: parseClaim(claimItem),
    attestation: attestationOf(registered, presence?.held_by !== undefined),
  };
}

/** The attestation tokens of a CVM, judged by a policy. */
export type JudgedTokens = Awaited<ReturnType<typeof judgeTokens>>;

/**
 * Judges the attestation tokens of a CVM by the attestation policy of a computation. Undefined if it has none. Three round trips with
 * a policy.
 */
export async function judgeCvm(
  table: Table,
  { attestation_policy }: Pick<Inputs, 'attestation_policy'>,
  { domain, cvm: { id: cvmId, attestation } }: { domain: string; cvm: CvmForRun },
  now: string,
): Promise<JudgedTokens | undefined> {
  if (!attestation_policy) return undefined;
  const stores = { table, store: openContentStore(() => deadlineOf(table)) };
  return await judgeTokens(stores, { domain, cvmId }, attestation, attestation_policy, now);
}

/**
 * Lists the reasons why a run cannot start on a CVM now, approvals and manifest aside. The first reason is the answer to a start.
 */
export function refusalsOf(inputs: Inputs, { id, presence, claim }: CvmForRun, judged: JudgedTokens | undefined, now: string) {
  const { status, run } = inputs.computation;
  const unattested = judged?.refusal;
  const notReady = presence && whyNotReady(id, presence, now);
  return [
    ...(isActive(status)
      ? [conflict('run_active', 'A run of this computation is active. Wait until it ends, or stop it.', run?.id)]
      : []),
    ...(claim ? [conflict('cvm_busy', `Another run holds the CVM ${id}. Wait until it ends, or stop it.`, claim.run_id)] : []),
    ...(notReady === undefined ? [] : [conflict('cvm_not_ready', notReady)]),
    ...(unattested ? [conflict('cvm_not_attested', unattested)] : []),
    ...refusalsOfKeys(inputs),
  ];
}

/** Lists the same of these reasons that are about no CVM: the keys of assets that no policy covers. */
export function refusalsOfKeys(inputs: Inputs): ServiceError[] {
  const withoutPolicy = (file: string) =>
    `Nothing says which CVMs may get the key of ${plainName(file)}: its creator can set a release_policy, and the computation can have an attestation_policy.`;
  return keysWithoutPolicy(inputs).map(({ file_name }) => conflict('no_release_policy', withoutPolicy(file_name)));
}

/**
 * Returns the check for the transaction that starts a run that the CVM has the same certificate by then, or still none, and the
 * same attestation of the same agent process if the run relies on it. The transaction fails with StaleReadError otherwise.
 */
function cvmIsStill(
  cvm: { domain: string; cvm_id: string },
  { certificate, token_hash, process }: Record<'certificate' | 'token_hash' | 'process', string | undefined>,
): Action {
  const hasCertificate =
    certificate === undefined
      ? '(attribute_not_exists(certificate_fingerprint) OR attribute_type(certificate_fingerprint, :certificate))'
      : 'certificate_fingerprint = :certificate';
  const check = {
    Key: cvmKeys.cvm(cvm.domain, cvm.cvm_id),
    ConditionExpression: `${hasCertificate}${token_hash === undefined ? '' : ' AND attestation.token_hash = :token AND attested_process = :process'}`,
    ExpressionAttributeValues: {
      ':certificate': certificate ?? 'NULL',
      ...(token_hash === undefined ? {} : { ':token': token_hash, ':process': process }),
    },
  };
  return { check, otherwise: StaleReadError };
}
