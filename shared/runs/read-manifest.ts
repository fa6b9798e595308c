import { numberOf } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { assetKey, findAsset } from '../rows/read-asset.ts';
import type { StoredComputation } from '../rows/computation.ts';
import { computationKey, parseComputation, parseDefinition, readComputation } from '../rows/read-computation.ts';
import { notFound, ServiceError } from '../runtime/errors.ts';
import { parseParticipantKey } from '../rows/participant-key.ts';
import { computationKeys, runKeys } from '../table/keys.ts';
import { getItems, type Item, parseStored, queryPartition, type Table } from '../table/table.ts';
import { approvableOf, type Inputs, type Manifest } from '../rows/manifest.ts';
import { storedSnapshot } from '../rows/run-snapshot.ts';
import { parseApproval } from '../rows/stored-approval.ts';

/**
 * A deleted asset counts as not linked. Two round trips.
 * @param computation read before. Any later change of the inputs changes its `version`.
 */
export async function readInputs(table: Table, domain: string, computation: StoredComputation): Promise<Inputs> {
  const parts = await readParts(table, computation.id);
  const keys = parts.assetIds.map((assetId) => assetKey(domain, assetId));
  return inputsOf(computation, parts, await getItems(table, keys));
}

export interface Parts extends Pick<
  Inputs,
  'agent_config' | 'attestation_policy' | 'consumers' | 'providers' | 'keys' | 'approvals'
> {
  /** The algorithm, then the datasets in the order in which they were linked. */
  assetIds: string[];
}

/** One round trip for each MB. */
export async function readParts(table: Table, computationId: string): Promise<Parts> {
  const { key, approval, part } = computationKeys.prefixes;
  const items = await queryPartition(table, computationKeys.partition(computationId));
  const startingWith = (prefix: string) => items.filter((item) => String(item['sk']).startsWith(prefix));
  const { agent_config, attestation_policy, consumers, providers, algorithm, datasets } = parseDefinition(startingWith(part));
  return {
    agent_config,
    attestation_policy,
    consumers,
    providers,
    assetIds: [...(algorithm ? [algorithm] : []), ...datasets].map((link) => link.asset_id),
    keys: startingWith(key).map(parseParticipantKey),
    approvals: startingWith(approval).map(parseApproval),
  };
}

/** @param assetItems the rows of `assetIds`, in their order */
export function inputsOf(computation: StoredComputation, parts: Parts, assetItems: (Item | undefined)[]): Inputs {
  const { assetIds, ...rest } = parts;
  const assets = assetIds.flatMap((assetId, index) => findAsset(assetItems[index], assetId) ?? []);
  return {
    computation,
    ...rest,
    algorithm: assets.find((asset) => asset.asset_type === 'algorithm'),
    datasets: assets.filter((asset) => asset.asset_type === 'dataset'),
  };
}

interface DigestedManifest {
  manifest: Manifest;
  /** SHA3-256, hex, of the canonical JSON. */
  digest: string;
  configuration_digest: string;
}

/**
 * Of a run; without `runId`, the one that a run would get now, approved or not.
 * @throws ServiceError `not_found`; `incomplete` with the missing items, because an incomplete manifest would crash an agent
 */
export async function readManifest(
  table: Table,
  domain: string,
  id: string,
  runId: string | undefined,
): Promise<DigestedManifest> {
  return runId === undefined ? await manifestOfNow(table, domain, id) : await manifestOfRun(table, domain, id, runId);
}

const ofRun = v.pick(storedSnapshot, ['manifest', 'manifest_digest', 'configuration_digest']);

async function manifestOfRun(table: Table, domain: string, id: string, runId: string): Promise<DigestedManifest> {
  if (numberOf(runId) === undefined) throw notFound('run of this computation');
  const [row, item] = await getItems(table, [computationKey(domain, id), runKeys.snapshot(id, runId)]);
  parseComputation(row, id);
  if (!item) throw notFound('run of this computation');
  const { manifest, manifest_digest: digest, configuration_digest } = parseStored(ofRun, item, 'snapshot of a run');
  return { manifest, digest, configuration_digest };
}

async function manifestOfNow(table: Table, domain: string, id: string): Promise<DigestedManifest> {
  const approvable = approvableOf(await readInputs(table, domain, await readComputation(table, domain, id)));
  if (!approvable.missing) return approvable;
  throw new ServiceError('incomplete', 'The computation is not ready to run and has no manifest yet.', {
    missing_items: approvable.missing,
  });
}
