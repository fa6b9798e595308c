import { assetKey, findAsset } from '../assets/read-asset.ts';
import { parseDefinition } from '../computations/definition.ts';
import { readComputation } from '../computations/find-computation.ts';
import type { StoredComputation } from '../computations/computation.ts';
import { parseParticipantKey } from '../keys/participant-key.ts';
import { computationKeys } from '../table/keys.ts';
import { getItems, queryPartition, type Table } from '../table/table.ts';
import type { Inputs } from './build-manifest.ts';

/**
 * Reads what a computation's manifest is built from, in three round trips: the computation, its links and keys, the assets. The
 * computation is read first. So if its inputs change while they are read, its `inputs_version` differs from the one read. A
 * deleted asset counts as not linked.
 * @param permit called with the computation before anything else is read; throws to refuse the request
 * @throws ServiceError `not_found`
 */
export async function readInputs(table: Table, domain: string, id: string): Promise<Inputs>;
export async function readInputs<Proof>(
  table: Table,
  domain: string,
  id: string,
  permit: (computation: StoredComputation) => Proof,
): Promise<Inputs & { permitted: Proof }>;
export async function readInputs(
  table: Table,
  domain: string,
  id: string,
  permit?: (computation: StoredComputation) => unknown,
): Promise<Inputs & { permitted: unknown }> {
  const computation = await readComputation(table, domain, id);
  const permitted = permit?.(computation);
  const items = await queryPartition(table, computationKeys.partition(id));
  const isKey = (sk: unknown) => String(sk).startsWith(computationKeys.prefixes.key);
  const { agent_config, algorithm, datasets } = parseDefinition(items.filter((item) => !isKey(item['sk'])));
  const ids = [...(algorithm ? [algorithm] : []), ...datasets].map((link) => link.asset_id);
  const found = await getItems(
    table,
    ids.map((assetId) => assetKey(domain, assetId)),
  );
  const assets = ids.flatMap((assetId, index) => findAsset(found[index], assetId) ?? []);
  return {
    permitted,
    computation,
    agent_config,
    algorithm: assets.find((asset) => asset.asset_type === 'algorithm'),
    datasets: assets.filter((asset) => asset.asset_type === 'dataset'),
    keys: items.filter((item) => isKey(item['sk'])).map(parseParticipantKey),
  };
}
