import { assetKey, findAsset } from '../assets/read-asset.ts';
import { parseDefinition } from '../computations/definition.ts';
import type { StoredComputation } from '../computations/computation.ts';
import { parseParticipantKey } from '../keys/participant-key.ts';
import { computationKeys } from '../table/keys.ts';
import { getItems, queryPartition, type Table } from '../table/table.ts';
import type { Inputs } from './build-manifest.ts';

/**
 * Reads what the manifest of a computation is built from, in two round trips: its links and keys, then the assets. A deleted
 * asset counts as not linked.
 * @param computation the row, read before. Any later change of the inputs changes its `inputs_version`.
 * @param closing assets that are about to be deleted. They count as deleted.
 */
export async function readInputs(
  table: Table,
  domain: string,
  computation: StoredComputation,
  closing: ReadonlySet<string> = new Set(),
): Promise<Inputs> {
  const items = await queryPartition(table, computationKeys.partition(computation.id));
  const isKey = (sk: unknown) => String(sk).startsWith(computationKeys.prefixes.key);
  const { agent_config, algorithm, datasets } = parseDefinition(items.filter((item) => !isKey(item['sk'])));
  const linked = [...(algorithm ? [algorithm] : []), ...datasets].map((link) => link.asset_id);
  const ids = linked.filter((id) => !closing.has(id));
  const found = await getItems(
    table,
    ids.map((assetId) => assetKey(domain, assetId)),
  );
  const assets = ids.flatMap((assetId, index) => findAsset(found[index], assetId) ?? []);
  return {
    computation,
    agent_config,
    algorithm: assets.find((asset) => asset.asset_type === 'algorithm'),
    datasets: assets.filter((asset) => asset.asset_type === 'dataset'),
    keys: items.filter((item) => isKey(item['sk'])).map(parseParticipantKey),
  };
}
