import * as v from 'valibot';
import type { StoredAsset } from '../assets/asset.ts';
import type { StoredAgentConfig } from '../computations/agent-config.ts';
import type { StoredComputation } from '../computations/computation.ts';
import type { ParticipantKey } from '../keys/participant-key.ts';
import type { StoredApproval } from './stored-approval.ts';
import { manifestSchema, type Manifest, type MissingItems } from './manifest.ts';

/** Everything that a manifest is built from, and the approvals. */
export interface Inputs {
  computation: StoredComputation;
  agent_config: StoredAgentConfig;
  algorithm: StoredAsset | undefined;
  /** In the order in which they were linked. */
  datasets: StoredAsset[];
  /** The keys that participants uploaded to the computation. */
  keys: ParticipantKey[];
  /** The users whom the computation names as its only result consumers in addition to the owner. Empty: not limited. */
  consumers: string[];
  approvals: StoredApproval[];
}

/** Together with the agent's configuration, it fits into one DynamoDB item and one gRPC message of the agent. */
const manifestLimitInBytes = 256 * 1024;

/**
 * Builds the manifest, or returns what is missing. A provider's key is that of the asset, otherwise the key that the asset's
 * creator uploaded to the computation. Missing approvals do not matter (docs/contract.md, sections 5 and 9).
 */
export function buildManifest(
  inputs: Inputs,
): { manifest: Manifest; missing?: never } | { missing: MissingItems; manifest?: never } {
  const { computation, agent_config, algorithm, datasets, keys } = inputs;
  const keyOf = new Map(keys.map((key) => [key.user_id, key.user_key]));
  const providerKey = (asset: StoredAsset) => asset.user_key || (keyOf.get(asset.created_by) ?? '');
  const assets = assetsOf(inputs);

  const missing: MissingItems = {
    keys: unique([
      ...assets.filter((asset) => !providerKey(asset)).map((asset) => asset.created_by),
      ...(keyOf.has(computation.owner) ? [] : [computation.owner]),
    ]),
    hashes: assets.filter((asset) => asset.state === 'pending' || asset.checksum === null).map((asset) => asset.file_name),
    info: [...(algorithm ? [] : ['Missing algorithm']), ...configurationGaps(agent_config)],
  };
  if (!algorithm || missing.keys.length + missing.hashes.length + missing.info.length > 0) return { missing };

  const manifest = v.parse(manifestSchema, {
    id: computation.id,
    name: computation.name,
    description: computation.description,
    datasets: datasets.map((asset) => ({ hash: hashOf(asset), user_key: providerKey(asset), filename: asset.file_name })),
    algorithm: { hash: hashOf(algorithm), user_key: providerKey(algorithm) },
    result_consumers: resultConsumers(inputs).map(({ user_key }) => ({ user_key })),
  });
  const size = Buffer.byteLength(JSON.stringify(manifest));
  if (size <= manifestLimitInBytes) return { manifest };
  const tooLarge = `The manifest would have ${size} bytes, but the limit is ${manifestLimitInBytes}: use fewer result consumers or shorter keys`;
  return { missing: { ...missing, info: [tooLarge] } };
}

/** Returns all assets, the algorithm first. */
export function assetsOf({ algorithm, datasets }: Inputs): StoredAsset[] {
  return [...(algorithm ? [algorithm] : []), ...datasets];
}

/**
 * Returns the keys of the result consumers, the owner's first: those of the owner and of the users whom the computation names, or
 * if it names none, of all who had the role result_consumer when they uploaded their key.
 */
export function resultConsumers({ computation, consumers, keys }: Inputs): ParticipantKey[] {
  const isNamed = (key: ParticipantKey) => (consumers.length > 0 ? consumers.includes(key.user_id) : key.is_consumer);
  return keys.filter((key) => key.user_id === computation.owner || isNamed(key)).sort(ownerFirst(computation.owner));
}

function configurationGaps(config: StoredAgentConfig): string[] {
  if (config.server_key && !config.cert_file) return ['agent_config.server_key is set without agent_config.cert_file'];
  if (config.cert_file && !config.server_key) return ['agent_config.cert_file is set without agent_config.server_key'];
  return [];
}

function hashOf(asset: StoredAsset): number[] {
  return [...Buffer.from(asset.checksum ?? '', 'hex')];
}

function ownerFirst(owner: string) {
  const isOwner = ({ user_id }: ParticipantKey) => Number(user_id === owner);
  return (a: ParticipantKey, b: ParticipantKey) =>
    isOwner(b) - isOwner(a) || a.uploaded_at.localeCompare(b.uploaded_at) || a.user_id.localeCompare(b.user_id);
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)];
}
