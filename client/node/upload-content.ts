import type { Schemas } from '../api-types.ts';
import type { Client } from '../create-client.ts';
import { ServiceProblem } from '../service-problem.ts';
import { type ContentOptions, expectChecksum, measure, sendContent } from './send-content.ts';

type Asset = Schemas['Asset'];

export interface UploadContentOptions extends ContentOptions {
  /** The asset. */
  id: string;
}

/**
 * Sends a file of up to 5 GiB as the content of an asset of the caller that has none yet, straight to storage, and again if the
 * connection breaks. Returns the asset when the service has hashed the content. Sends nothing if the asset has this content already,
 * so an upload that was interrupted can be repeated.
 * @throws ServiceProblem `conflict` if the asset has other content, `forbidden` if it is another user's, or as uploadAsset
 */
export async function uploadContent(client: Client, options: UploadContentOptions): Promise<Asset> {
  const { domainID, id, signal } = options;
  const { size, checksum } = await measure(options);
  const { data: found, response } = await client.call('getAsset', { domainID, id, signal });
  if (found === undefined) throw new TypeError('The service returned no asset.');
  const { file_name, created_by, state } = found;
  if (state === 'ready') {
    if (found.checksum === checksum) return found;
    throw problem(409, 'conflict', `${file_name} has other content already. Create another asset for this file.`, id);
  }
  const content = size === 0 ? { asset: '' } : {};
  const ifMatch = response.headers.get('etag') ?? undefined;
  const asset = await client.updateAsset({ domainID, id, body: { asset: { ...found, ...content } }, ifMatch, signal });
  if (asset.state === 'pending' && !asset.upload) {
    throw problem(403, 'forbidden', `Only ${created_by} uploads the content of ${file_name}.`, id);
  }
  // A checksum that was given before is that of the real file. The content may be a sample of it.
  const expected = found.checksum ?? checksum;
  return expectChecksum(asset.state === 'ready' ? asset : await sendContent(client, asset, size, options), expected);
}

function problem(status: number, code: ServiceProblem['code'], detail: string, id: string): ServiceProblem {
  return new ServiceProblem({ status, code, detail, request: `upload of the asset ${id}` });
}
