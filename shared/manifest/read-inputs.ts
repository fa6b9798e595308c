import { assetKey, findAsset } from '../assets/read-asset.ts';
import { parseDefinition, readComputation } from '../computations/read-computation.ts';
import type { StoredComputation } from '../computations/computation.ts';
import { parseParticipantKey } from '../keys/participant-key.ts';
import { computationKeys } from '../table/keys.ts';
import { getItems, queryItems, type Table } from '../table/table.ts';
import type { Inputs } from './build-manifest.ts';

/**
 * What a computation's manifest is made of, as it is now. Two round trips: the computation with its links and keys, then the
 * assets. An asset that is deleted counts as not linked.
 * @param permit called with the computation before more is read; throws to refuse
 * @throws ServiceError `not_found`
 */
export async function readInputs(
  table: Table,
  domain: string,
  id: string,
  permit: (computation: StoredComputation) => void = () => undefined,
): Promise<Inputs> {
  const [computation, items] = await Promise.all([
    readComputation(table, domain, id),
    queryItems(table, {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': computationKeys.partition(id) },
    }),
  ]);
  permit(computation);
  const isKey = (sk: unknown) => String(sk).startsWith(computationKeys.prefixes.key);
  const { agent_config, algorithm, datasets } = parseDefinition(items.filter((item) => !isKey(item['sk'])));
  const ids = [...(algorithm ? [algorithm] : []), ...datasets].map((link) => link.asset_id);
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
