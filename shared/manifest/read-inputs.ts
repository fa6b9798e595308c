import { assetKey, findAsset } from '../assets/read-asset.ts';
import { parseDefinition } from '../computations/definition.ts';
import type { StoredComputation } from '../computations/computation.ts';
import { parseParticipantKey } from '../keys/participant-key.ts';
import { computationKeys } from '../table/keys.ts';
import { getItems, queryPartition, type Item, type Table } from '../table/table.ts';
import { parseApproval } from './stored-approval.ts';
import type { Inputs } from './build-manifest.ts';

/**
 * Reads what the manifest of a computation is built from, and the approvals, in two round trips: its links, keys and approvals,
 * then the assets. A deleted asset counts as not linked.
 * @param computation the row, read before. Any later change of the inputs changes its `inputs_version`.
 */
export async function readInputs(table: Table, domain: string, computation: StoredComputation): Promise<Inputs> {
  const parts = await readParts(table, computation.id);
  const keys = parts.assetIds.map((assetId) => assetKey(domain, assetId));
  return inputsOf(computation, parts, await getItems(table, keys));
}

/** What is stored of a computation apart from its row and its runs. */
export interface Parts extends Pick<Inputs, 'agent_config' | 'consumers' | 'keys' | 'approvals'> {
  /** The linked assets: the algorithm, then the datasets in the order in which they were linked. */
  assetIds: string[];
}

/** Reads the parts of a computation. One round trip for each MB of them. */
export async function readParts(table: Table, computationId: string): Promise<Parts> {
  const { key, approval, part } = computationKeys.prefixes;
  const items = await queryPartition(table, computationKeys.partition(computationId));
  const startingWith = (prefix: string) => items.filter((item) => String(item['sk']).startsWith(prefix));
  const { agent_config, consumers, algorithm, datasets } = parseDefinition(startingWith(part));
  return {
    agent_config,
    consumers,
    assetIds: [...(algorithm ? [algorithm] : []), ...datasets].map((link) => link.asset_id),
    keys: startingWith(key).map(parseParticipantKey),
    approvals: startingWith(approval).map(parseApproval),
  };
}

/** Puts together what was read. @param assetItems the rows of `assetIds`, in their order */
export function inputsOf(computation: StoredComputation, parts: Parts, assetItems: (Item | undefined)[]): Inputs {
  const { assetIds, agent_config, consumers, keys, approvals } = parts;
  const assets = assetIds.flatMap((assetId, index) => findAsset(assetItems[index], assetId) ?? []);
  return {
    computation,
    agent_config,
    consumers,
    algorithm: assets.find((asset) => asset.asset_type === 'algorithm'),
    datasets: assets.filter((asset) => asset.asset_type === 'dataset'),
    keys,
    approvals,
  };
}
