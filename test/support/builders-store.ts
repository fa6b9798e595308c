import { toBase64 } from 'computation-management-formats/bytes';
import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import { numberedId } from 'computation-management-formats/identifiers';
import type { ResultReview } from 'computation-management-formats/consent';
import type { AssetType } from 'computation-management-formats/vocabulary';
import type { Endpoints } from '../../local/machine/environment.ts';
import { startS3 } from '../../local/s3/s3.ts';
import { type Permitted, requireAccess } from '../../shared/http/caller.ts';
import type { ApprovalInput } from '../../shared/approvals/approval.ts';
import { approve } from '../../shared/approvals/approve.ts';
import type { AssetUse, StoredAsset } from '../../shared/rows/asset.ts';
import { type ContentStore, putContent } from '../../shared/rows/content-store.ts';
import { receiveUpload } from '../../shared/assets/uploads.ts';
import { handInResult } from '../../shared/results/hand-in-result.ts';
import { decideResult } from '../../shared/results/decide-result.ts';
import { type AssetKeyInput, setAssetKey } from '../../shared/assets/asset-keys.ts';
import type { KeyToSeal } from '../../shared/rows/sealed-key.ts';
import { sealedAs } from './sealed-as.ts';
import { strictPolicy } from './strict-policy.ts';
import { createAsset } from '../../shared/assets/create-asset.ts';
import { defaultAgentConfig } from '../../shared/rows/agent-config.ts';
import type { ComputationFields, StoredComputation } from '../../shared/rows/computation.ts';
import { createComputation } from '../../shared/computations/create-computation.ts';
import type { StageLog } from '../../shared/history/index.ts';
import { openKms } from '../../shared/runtime/clients.ts';
import { type RunReference, readRun } from '../../shared/rows/run.ts';
import { readPublicKey } from '../../shared/rows/public-key.ts';
import { uploadKey } from '../../shared/keys/participant-keys.ts';
import { linkAsset } from '../../shared/assets/link-asset.ts';
import type { Inputs, ParticipantKey } from '../../shared/rows/manifest.ts';
import { readManifest } from '../../shared/runs/read-manifest.ts';
import { readClaim } from '../../shared/rows/claim.ts';
import { recordOutcome } from '../../shared/lifecycle/run-steps.ts';
import type { Executions } from '../../shared/lifecycle/executions.ts';
import { recordReports } from '../../shared/cvms/record-reports.ts';
import type { Report } from '../../shared/cvms/report.ts';
import { startRun } from '../../shared/runs/start-run.ts';
import { resumeRun } from '../../shared/lifecycle/sweep-runs.ts';
import { type Key, listKeys, lists } from '../../shared/table/keys.ts';
import type { Table } from '../../shared/table/table.ts';
import { putItems } from '../../shared/table/writes.ts';
import { clockOfTests } from './append-to-journal.ts';
import { type DynamoDbProxy, startDynamoDbProxy } from './dynamodb-proxy.ts';
import { documentAt, patientDeadline, startEmbeddedTable } from './embedded-table.ts';
import { patientClock } from './patience.ts';
import { s3At } from './s3-at.ts';
import { startIdleStepFunctions } from './simulated-step-functions.ts';

/** The dependencies of the store functions: real engines, and executions that only wait. */
export interface Stores {
  /** The table directly on the engine. */
  table: Table;
  /** The same table through the proxy, with a client that never retries: a fault ends its caller. */
  mortal: Table;
  proxy: DynamoDbProxy;
  content: ContentStore;
  executions: Executions;
  endpoints: Endpoints;
  /** The same, without the proxy. */
  direct: Endpoints;
  stop: () => Promise<void>;
}

export async function startStores(options: { latencyInMilliseconds?: number; bySdk?: boolean } = {}): Promise<Stores> {
  const embedded = await startEmbeddedTable(options);
  const proxy = await startDynamoDbProxy(embedded.endpoint, { latencyInMilliseconds: 0, ...options });
  const document = documentAt(proxy.endpoint, { maxAttempts: 1 });
  const s3 = await startS3({
    bucket: 'content',
    logBucket: 'log',
    notifiedPrefix: 'content/upload/',
    onObjectCreated: () => undefined,
  });
  const client = s3At(s3.endpoint);
  const stepFunctions = await startIdleStepFunctions();
  const direct = { dynamoDb: embedded.endpoint, s3: s3.endpoint, stepFunctions: stepFunctions.endpoint };
  return {
    table: embedded.table,
    mortal: { name: embedded.table.name, document, deadline: patientDeadline, clock: patientClock },
    proxy,
    content: { bucket: 'content', client },
    executions: stepFunctions.executions,
    endpoints: { ...direct, dynamoDb: proxy.endpoint },
    direct,
    stop: async () => {
      document.destroy();
      client.destroy();
      await Promise.all([stepFunctions.stop(), s3.stop(), proxy.stop()]);
      await embedded.stop();
    },
  };
}

/** The parts of the log of a stage, for its functions. The functions' environment must be set, because it has the keys. */
export function stageLogOf({ table, content }: Pick<Stores, 'table' | 'content'>): StageLog {
  return { table, store: { ...content, bucket: 'log' }, kms: openKms(patientDeadline), witnesses: [] };
}

const pair = generateKeyPairSync('ed25519');
export const publicKey = Buffer.from(pair.publicKey.export({ format: 'pem', type: 'spki' })).toString('base64');
/** The private key of `publicKey`, which every user of these tests uploads. */
export const { privateKey } = pair;

/** The fields that every change has in common. */
export const byAlice = { by: 'alice', now: clockOfTests, permit: allowed };

/** Returns no stored key, for updates without a private key. */
export const noKey = (): Promise<''> => Promise.resolve('');

/** Permits everything. */
export function allowed(): Permitted {
  return requireAccess({ id: 'alice', roles: new Set(), actions: new Set(['view']) }, { anyOf: ['view'] });
}

export async function aComputation(
  table: Table,
  domain: string,
  name = 'Iris',
  consumers: string[] = [],
  owner = 'alice',
  result_review: ResultReview | null = null,
): Promise<string> {
  const fields = computationFields({ name, owner });
  const given = {
    domain,
    fields,
    agent_config: defaultAgentConfig,
    seal: noKey,
    attestation_policy: null,
    result_review,
    consumers,
    providers: [],
    by: 'alice',
    now: clockOfTests,
  };
  return (await createComputation(table, given)).row.id;
}

export async function anAsset(
  { table, content }: Pick<Stores, 'table' | 'content'>,
  domain: string,
  asset: { file_name: string; asset_type: AssetType; asset?: string | undefined; content_access?: 'creator' | 'domain' } = {
    file_name: 'algorithm.py',
    asset_type: 'algorithm',
  },
): Promise<string> {
  const fields = {
    description: '',
    mime_type: '',
    user_key: '',
    content_access: 'creator' as const,
    use: 'open' as const,
    asset: btoa('print(1)'),
  };
  return (await createAsset(table, content, { domain, ...fields, ...asset, by: 'alice', now: clockOfTests })).id;
}

/** Gives an asset of alice a key that she holds, or the given one. */
export async function keyAsset(table: Table, domain: string, id: string, given: Partial<AssetKeyInput> = {}): Promise<void> {
  const key = { held: 'party', fingerprint: 'ab'.repeat(32), release_policy: strictPolicy, ...given } as AssetKeyInput;
  const seal = ({ plain }: KeyToSeal) => Promise.resolve(sealedAs(plain));
  const brokerUrl = `https://api.example.com/${domain}`;
  await setAssetKey(table, { domain, id, given: key, brokerUrl, seal, now: byAlice.now, permit: allowed });
}

export async function aKey(table: Table, domain: string, computationId: string, userId = 'alice'): Promise<void> {
  const { spki, fingerprint } = readPublicKey(publicKey, '/key');
  const key = { user_id: userId, user_key: toBase64(spki), fingerprint, is_consumer: false, uploaded_at: clockOfTests };
  await uploadKey(table, domain, computationId, key);
}

/** Creates a computation that is ready to run, and its algorithm. */
export async function aReadyComputation(stores: Stores, domain: string): Promise<{ id: string; algorithm: string }> {
  const id = await aComputation(stores.table, domain);
  const algorithm = await anAsset(stores, domain);
  await linkAsset(stores.table, { domain, assetId: algorithm, computationId: id, ...byAlice });
  await aKey(stores.table, domain, id);
  return { id, algorithm };
}

export async function aRun(
  { table, executions }: Pick<Stores, 'table' | 'executions'>,
  domain: string,
  computationId: string,
  cvmId = 'cvm-1',
): Promise<string> {
  return (await startRun(table, executions, { domain, computationId, cvmId, ...byAlice })).runId;
}

const resultOfTests = Buffer.from('species,count\nAdelie,152\n');

/** A completed run whose result alice reviews for carol, and how far the review is. Returns the checksum of the result's file. */
export async function aReviewedRun(
  stores: Stores,
  domain: string,
  state: 'awaiting' | 'handed in' | 'released' = 'awaiting',
  review: ResultReview = { reviewers: ['alice'], needed: 1 },
): Promise<RunReference & { checksum: string }> {
  const { table, content } = stores;
  const id = await aComputation(table, domain, 'Reviewed', ['carol'], 'olga', review);
  const assetId = await anAsset(stores, domain);
  await linkAsset(table, { domain, assetId, computationId: id, ...byAlice });
  for (const reviewer of review.reviewers) await aKey(table, domain, id, reviewer);
  const cvm_id = `cvm-${randomUUID()}`;
  const run_id = await aRun(stores, domain, id, cvm_id);
  await endRunWith(stores, domain, run_id);
  const checksum = createHash('sha3-256').update(resultOfTests).digest('hex');
  const request = { domain, computationId: id, runId: run_id, ...byAlice, now: clockOfTests };
  if (state !== 'awaiting') {
    const given = { file_name: 'counts.csv', size: resultOfTests.length, checksum };
    const { asset } = await handInResult(table, content, { ...request, given });
    await putContent(content, asset.upload_key ?? '', resultOfTests);
    await receiveUpload(table, content, asset.upload_key ?? '', clockOfTests);
  }
  if (state === 'released')
    await decideResult(table, { ...request, resultDays: 30, given: { decision: 'release', checksum, note: '' } });
  return { domain, computation_id: id, run_id, cvm_id, checksum };
}

/** A run that was started, with the algorithm of its computation. */
export interface StartedRun extends RunReference {
  algorithm: string;
}

/** Starts a run on a CVM that has no other one. */
export async function aRunOnNewCvm(stores: Stores, domain: string, cvm_id = `cvm-${randomUUID()}`): Promise<StartedRun> {
  const { id, algorithm } = await aReadyComputation(stores, domain);
  return { domain, computation_id: id, run_id: await aRun(stores, domain, id, cvm_id), cvm_id, algorithm };
}

/** A report by which the CVM accepts the run. */
export function anAgentEvent(run_id: string, id: string): Report & { type: 'event' } {
  return { id, run_id, type: 'event', event_type: 'Running', status: 'InProgress', originator: 'agent' };
}

/** Ends a run as its CVM and its execution do. */
export async function endRunWith(
  { table, executions }: Stores,
  domain: string,
  runId: string,
  [event_type, status]: [string, string] = ['Complete', 'Completed'],
): Promise<void> {
  const run = await readRun(table, domain, runId);
  if (!run) throw new Error('There is no such run.');
  const reports = [{ ...anAgentEvent(runId, `end of ${runId}`), event_type, status }];
  await recordReports(table, executions, { domain, cvmId: run.cvm_id, reports, now: clockOfTests });
  const reference = { domain, computation_id: run.computation_id, run_id: runId, cvm_id: run.cvm_id };
  await recordOutcome(table, executions, { run: reference }, clockOfTests);
}

/** The fields that users set, so that a new field has its value for tests here. */
export function computationFields(changes: Partial<ComputationFields> = {}): ComputationFields {
  return { name: 'Iris', description: '', owner: 'alice', approval: 'none', log_access: 'none', ...changes };
}

/** The row of a computation that was just created. */
export function aComputationRow(id: string, changes: Partial<StoredComputation> = {}): StoredComputation {
  return {
    ...computationFields(),
    id,
    status: 'created',
    created_at: clockOfTests,
    updated_at: clockOfTests,
    run: null,
    version: 1,
    dataset_count: 0,
    created_by: 'alice',
    run_counts: {},
    refusal_count: 0,
    ...changes,
  };
}

/** More than the deletion of an asset has room for in its transaction. */
const manyLinks = 91;

/** Gives an asset many links to computations that do not exist, as if they had just been deleted. Only one side is stored. */
export async function addHalfLinks(table: Table, assetId: string): Promise<Key[]> {
  const list = lists.linkedComputations(assetId);
  const numbers = Array.from({ length: manyLinks }, (_, index) => 1_000_000 + index);
  await putItems(
    table,
    numbers.map((number) => ({ ...listKeys.row(list, number), id: numberedId(number) })),
  );
  return numbers.map((number) => listKeys.row(list, number));
}

/** A run that was resumed after a restore: its execution has the number 1 in its name, because the one before had ended. */
export async function aResumedRun(stores: Stores, domain: string): Promise<RunReference> {
  const { algorithm: _, ...run } = await aRunOnNewCvm(stores, domain);
  const claim = await readClaim(stores.table, run);
  if (!claim) throw new Error('The run has no claim.');
  await resumeRun(stores.table, stores.executions, claim, 'ABORTED');
  return run;
}

const { publicKey: keyOfBob } = generateKeyPairSync('ed25519');

/** A computation of alice with an algorithm of alice and a dataset of bob. Both have uploaded their keys. */
export interface SharedComputation {
  id: string;
  algorithm: string;
  dataset: string;
}

export async function aDatasetOfBob(
  { table, content }: Stores,
  domain: string,
  file_name: string,
  use: AssetUse = 'approval',
): Promise<string> {
  const given = { file_name, use, asset_type: 'dataset' as const, asset: btoa(file_name) };
  const fields = { description: '', mime_type: '', user_key: '', content_access: 'creator' as const };
  return (await createAsset(table, content, { domain, ...fields, ...given, by: 'bob', now: byAlice.now })).id;
}

export async function aSharedComputation(stores: Stores, domain: string, use: AssetUse = 'approval'): Promise<SharedComputation> {
  const { id, algorithm } = await aReadyComputation(stores, domain);
  const dataset = await aDatasetOfBob(stores, domain, 'iris.csv', use);
  await linkAsset(stores.table, { domain, assetId: dataset, computationId: id, ...byAlice });
  const user_key = keyOfBob.export({ format: 'der', type: 'spki' }).toString('base64');
  const key = { user_id: 'bob', user_key, fingerprint: '', is_consumer: false, uploaded_at: byAlice.now };
  await uploadKey(stores.table, domain, id, key);
  return { id, algorithm, dataset };
}

export async function digestsOf(
  { table }: Pick<Stores, 'table'>,
  domain: string,
  id: string,
): Promise<{ digest: string; configuration_digest: string }> {
  const { digest, configuration_digest } = await readManifest(table, domain, id, undefined);
  return { digest, configuration_digest };
}

/** Approves the manifest of a computation as it is now. */
export async function anApproval(
  stores: Pick<Stores, 'table'>,
  domain: string,
  computationId: string,
  by = 'bob',
  given: Partial<ApprovalInput> = {},
): Promise<string> {
  const digests = await digestsOf(stores, domain, computationId);
  const { now, permit } = byAlice;
  await approve(stores.table, { domain, computationId, given: { ...digests, ...given }, by, now, permit });
  return digests.digest;
}

export const id = '00000000-0001-8000-8000-000000000000';
export const key = (user: string) => btoa(`key of ${user}`);

/** A dataset of bob. */
export function anAssetRow(fields: Partial<StoredAsset> = {}): StoredAsset {
  return {
    id,
    file_name: 'iris.csv',
    description: '',
    key: null,
    asset_type: 'dataset',
    mime_type: '',
    state: 'ready',
    size: 1,
    checksum: '07'.repeat(32),
    content_access: 'creator',
    use: 'open',
    source: null,
    kbs: null,
    decompress: null,
    algo_type: null,
    algo_args: null,
    created_by: 'bob',
    created_at: clockOfTests,
    updated_at: clockOfTests,
    user_key: '',
    content_key: 'content',
    content_checksum: '07'.repeat(32),
    upload_key: null,
    closing_until: null,
    version: 1,
    ...fields,
  };
}

export function aKeyOf(user_id: string, fields: Partial<ParticipantKey> = {}): ParticipantKey {
  return { user_id, user_key: key(user_id), fingerprint: '', is_consumer: false, uploaded_at: clockOfTests, ...fields };
}

/** A computation of alice with an algorithm and a dataset of bob, ready to run. */
export function inputs(fields: Partial<Inputs> = {}): Inputs {
  return {
    computation: aComputationRow(id, { dataset_count: 1 }),
    agent_config: defaultAgentConfig,
    algorithm: anAssetRow({ file_name: 'algorithm.py', asset_type: 'algorithm' }),
    datasets: [anAssetRow()],
    keys: [aKeyOf('alice'), aKeyOf('bob')],
    attestation_policy: null,
    result_review: null,
    consumers: [],
    providers: [],
    approvals: [],
    refusals: [],
    used_runs: {},
    policy_changes: [],
    consumer_changes: [],
    acts: [],
    ...fields,
  };
}
