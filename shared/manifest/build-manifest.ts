import * as v from 'valibot';
import type { StoredAsset } from '../assets/asset.ts';
import type { AgentConfig } from '../computations/agent-config.ts';
import type { StoredComputation } from '../computations/computation.ts';
import type { ParticipantKey } from '../keys/participant-key.ts';
import { manifestSchema, type Manifest, type MissingItems } from './manifest.ts';

/** Everything that a manifest is built from. */
export interface Inputs {
  computation: StoredComputation;
  agent_config: AgentConfig;
  algorithm: StoredAsset | undefined;
  /** In the order in which they were linked. */
  datasets: StoredAsset[];
  /** The keys that participants uploaded to the computation. */
  keys: ParticipantKey[];
}

/** Together with the agent's configuration, it fits into one DynamoDB item and one gRPC message of the agent. */
const manifestLimitInBytes = 256 * 1024;

/**
 * Builds the manifest, or returns what is missing. A provider's key is that of the asset, otherwise the key that the asset's
 * creator uploaded to the computation. Consumers are the owner and all result consumers who uploaded a key to the computation
 * (docs/contract.md, section 5).
 */
export function buildManifest(
  inputs: Inputs,
): { manifest: Manifest; missing?: never } | { missing: MissingItems; manifest?: never } {
  const { computation, agent_config, algorithm, datasets, keys } = inputs;
  const keyOf = new Map(keys.map((key) => [key.user_id, key.user_key]));
  const providerKey = (asset: StoredAsset) => asset.user_key || (keyOf.get(asset.created_by) ?? '');
  const assets = [...(algorithm ? [algorithm] : []), ...datasets];

  const missing: MissingItems = {
    keys: unique([
      ...assets.filter((asset) => !providerKey(asset)).map((asset) => asset.created_by),
      ...(keyOf.has(computation.owner) ? [] : [computation.owner]),
    ]),
    hashes: assets.filter((asset) => asset.state === 'pending' || asset.checksum === null).map((asset) => asset.file_name),
    info: [...(algorithm ? [] : ['Missing algorithm']), ...configurationGaps(agent_config)],
  };
  if (!algorithm || missing.keys.length + missing.hashes.length + missing.info.length > 0) return { missing };

  const consumers = keys
    .filter((key) => key.user_id === computation.owner || key.is_consumer)
    .sort(ownerFirst(computation.owner));
  const manifest = v.parse(manifestSchema, {
    id: computation.id,
    name: computation.name,
    description: computation.description,
    datasets: datasets.map((asset) => ({ hash: hashOf(asset), user_key: providerKey(asset), filename: asset.file_name })),
    algorithm: { hash: hashOf(algorithm), user_key: providerKey(algorithm) },
    result_consumers: consumers.map(({ user_key }) => ({ user_key })),
  });
  const size = Buffer.byteLength(JSON.stringify(manifest));
  if (size <= manifestLimitInBytes) return { manifest };
  const tooLarge = `The manifest would have ${size} bytes, at most ${manifestLimitInBytes} fit: use fewer result consumers or shorter keys`;
  return { missing: { ...missing, info: [tooLarge] } };
}

function configurationGaps(config: AgentConfig): string[] {
  if (config.server_key && !config.cert_file) return ['agent_config.server_key is set without agent_config.cert_file'];
  if (config.cert_file && !config.server_key) return ['agent_config.cert_file is set without agent_config.server_key'];
  return [];
}

function hashOf(asset: StoredAsset): number[] {
  return [...Buffer.from(asset.checksum ?? '', 'hex')];
}

function ownerFirst(owner: string) {
  return (a: ParticipantKey, b: ParticipantKey) => {
    if (a.user_id === owner || b.user_id === owner) return a.user_id === owner ? -1 : 1;
    return a.uploaded_at.localeCompare(b.uploaded_at) || a.user_id.localeCompare(b.user_id);
  };
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)];
}
