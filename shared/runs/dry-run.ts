import { plainName } from 'computation-management-formats/quoted-name';
import { keysWithoutPolicy, readinessOf, type CvmOfRun } from '../approvals/index.ts';
import { judgeTokens } from '../attestation/index.ts';
import { isActive } from '../rows/run.ts';
import { type Inputs, readInputs } from '../rows/manifest.ts';
import { conflict, type ServiceError, truncate } from '../runtime/errors.ts';
import { cvmKeys } from '../table/keys.ts';
import { deadlineOf, type Table } from '../table/table.ts';
import { openContentStore } from '../rows/content-store.ts';
import { type Action, readSettled, StaleReadError } from '../table/transaction.ts';
import { claimKey, parseClaim, type Claim } from '../rows/claim.ts';
import { withGatewayLeases } from '../rows/gateway-lease.ts';
import { parsePresence, whyNotReady, type StoredPresence } from '../rows/presence.ts';
import { attestationOf, type CvmAttestation } from '../rows/attestation.ts';
import type { StoredAsset } from '../rows/asset.ts';
import { readComputation } from '../rows/computation.ts';

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
 * Judges the attestation tokens of a CVM by the attestation policy of a computation. Undefined if it has none. Two round trips with
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
function refusalsOfKeys(inputs: Inputs): ServiceError[] {
  const withoutPolicy = (file: string) =>
    `Nothing says which CVMs may get the key of ${plainName(file)}: its creator can set a release_policy, and the computation can have an attestation_policy.`;
  return keysWithoutPolicy(inputs).map(({ file_name }) => conflict('no_release_policy', withoutPolicy(file_name)));
}

/**
 * Returns the check for the transaction that starts a run that the CVM has the same certificate by then, or still none, and the
 * same attestation of the same agent process if the run relies on it. The transaction fails with StaleReadError otherwise.
 */
export function cvmIsStill(
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

interface ReadinessRequest {
  domain: string;
  id: string;
  /** The identifier of the CVM that the run is to use. Undefined for a run on any CVM. */
  cvmId?: string | undefined;
  at: string;
}

/**
 * Reads what a run of a computation still lacks, with the reasons for which a start on the CVM would be refused, and warnings.
 * Three round trips, or five with a CVM and an attestation policy.
 * @throws ServiceError `not_found`
 */
export async function readReadiness(table: Table, { domain, id, cvmId, at }: ReadinessRequest) {
  const [computation, cvm] = await Promise.all([
    readComputation(table, domain, id),
    cvmId === undefined ? undefined : readCvmForRun(table, { domain, cvm_id: cvmId }, at),
  ]);
  const inputs = await readInputs(table, domain, computation);
  const { snapshot, missing, configuration_digest } = readinessOf(inputs, { at, cvm });
  const judged = cvm && (await judgeCvm(table, inputs, { domain, cvm }, at));
  const refusals = cvm ? refusalsOf(inputs, cvm, judged, at) : refusalsOfKeys(inputs);
  return {
    missing: { ...missing, info: [...missing.info, ...refusals.map(({ message }) => message)] },
    warnings: warningsOf(inputs.datasets),
    digest: snapshot?.manifest_digest,
    configuration_digest,
  };
}

/**
 * Returns what remains of the name of a dataset for a reader who overlooks case, kinds of letters and blanks. Characters that
 * nobody sees are left out too.
 */
function lookOf(name: string): string {
  const letters = name.normalize('NFKC').toLowerCase().normalize('NFKC');
  return letters
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Lists groups of datasets for which `keyOf` returns the same, each group as a text with the names of the datasets. */
function alike(datasets: readonly StoredAsset[], keyOf: (dataset: StoredAsset) => string): string[] {
  const groups = [...Map.groupBy(datasets, keyOf).values()].filter((group) => group.length > 1);
  return groups.map((group) => truncate(group.map(({ file_name }) => JSON.stringify(file_name)).join(' and '), 900));
}

/**
 * Lists warnings about the datasets of a computation, which keep no run from starting: datasets with the same content, and
 * datasets whose names look the same. An agent tells datasets apart by their content, people by their names.
 */
export function warningsOf(datasets: readonly StoredAsset[]): string[] {
  const withContent = datasets.filter(({ checksum }) => checksum !== null);
  return [
    ...alike(withContent, ({ checksum }) => checksum ?? '').map((names) => `${names} have the same content`),
    ...alike(datasets, ({ file_name }) => lookOf(file_name)).map((names) => `${names} have names that look the same`),
  ];
}
