import type { Schemas } from '../api-types.ts';
import type { Client } from '../create-client.ts';
import { ServiceProblem } from '../service-problem.ts';

interface Place {
  domainID: string | undefined;
  id: string;
  signal: AbortSignal | undefined;
}

/**
 * Returns a new link for the content of an asset, or undefined if the content has arrived. Only a change returns a link, so the asset is
 * changed to what it is now. Reads it again if someone changes it in between.
 * @throws ServiceProblem; the signal's reason
 */
export async function renewUpload(client: Client, place: Place): Promise<Schemas['AssetUpload'] | undefined> {
  for (;;) {
    const { data: asset, response } = await client.call('getAsset', place);
    if (asset === undefined || asset.state === 'ready') return undefined;
    const ifMatch = response.headers.get('etag') ?? undefined;
    try {
      return (await client.updateAsset({ ...place, ifMatch, body: { asset } })).upload;
    } catch (error) {
      if (!(error instanceof ServiceProblem) || error.code !== 'precondition_failed') throw error;
    }
  }
}
