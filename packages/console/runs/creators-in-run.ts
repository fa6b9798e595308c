import { type Client, findRows, items, page, type Schemas } from 'computation-management-client';
import { loadComputation } from '../computations/load-computation.ts';

/**
 * Returns the creators of the assets that an active run uses: those that are linked now, without what was linked since the run started, and
 * with what was unlinked since. The service deletes none of them before the run ends.
 */
export async function creatorsInRun(
  client: Client,
  { computation_id: id, started_at: from }: Pick<Schemas['Run'], 'computation_id' | 'started_at'>,
  signal: AbortSignal,
): Promise<string[]> {
  const { computation } = await loadComputation(client, id, signal);
  const links = new Map(computation.assets.map((asset) => [asset.id, 1]));
  const undone = { asset_unlinked: 1, asset_linked: -1 };
  for (const [event_type, change] of Object.entries(undone)) {
    for await (const { details } of items(client, 'listEvents', { id, event_type, from, signal })) {
      const { asset_id } = JSON.parse(atob(details)) as { asset_id: string };
      links.set(asset_id, (links.get(asset_id) ?? 0) + change);
    }
  }
  const used = [...links].filter(([, count]) => count > 0).map(([asset]) => asset);
  const rows = await findRows(used, (range) => page(client, 'listAssets', { ...range, signal }));
  return [...rows.values()].map(({ created_by }) => created_by);
}
