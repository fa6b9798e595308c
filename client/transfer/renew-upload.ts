import type { Schemas } from '../api-types.ts';
import type { Client } from '../create-client.ts';
import { ServiceProblem } from '../service-problem.ts';

interface Place {
  domainID?: string | undefined;
  /** Of the asset. */
  id: string;
  signal: AbortSignal | undefined;
}

/**
 * Returns a new link for the content of an asset that has none yet, or undefined if the content has arrived. Only a change returns a
 * link (docs/contract.md, section 4), so the asset is changed to what it is. Reads it again if someone changes it in between, or if the
 * content arrives.
 * @throws ServiceProblem `forbidden` if the asset is another user's; the signal's reason
 */
export async function renewUpload(client: Client, place: Place): Promise<Schemas['AssetUpload'] | undefined> {
  for (;;) {
    const { data: asset, response } = await client.call('getAsset', place);
    if (asset === undefined || asset.state === 'ready') return undefined;
    const ifMatch = response.headers.get('etag') ?? undefined;
    const changed = await client.updateAsset({ ...place, ifMatch, body: { asset } }).catch(unlessOutdated);
    if (changed === undefined) continue;
    if (changed.upload || changed.state === 'ready') return changed.upload;
    const detail = `Only ${asset.created_by} uploads the content of ${asset.file_name}.`;
    throw new ServiceProblem({ status: 403, code: 'forbidden', detail, request: `upload of the asset ${place.id}` });
  }
}

/** @throws any error but that the asset has changed */
function unlessOutdated(error: unknown): undefined {
  if (!(error instanceof ServiceProblem) || error.code !== 'precondition_failed') throw error;
}
