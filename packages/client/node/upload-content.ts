import type { Schemas } from '../api-types.ts';
import type { Client } from '../create-client.ts';
import { ServiceProblem } from '../service-problem.ts';
import { changeForUpload } from '../transfer/renew-upload.ts';
import { type ContentOptions, expectChecksum, measureFile, sendContent } from './send-content.ts';

type Asset = Schemas['Asset'];

export interface UploadContentOptions extends ContentOptions {
  /** The asset. */
  id: string;
  /** Called before the content is sent, if the asset was created with the hash of another file: the content may be a sample of it. */
  onOtherHash?: ((hashes: { named: string; found: string }) => void) | undefined;
}

/**
 * Sends a file of up to 5 GiB as the content of an asset of the caller that has none yet, straight to storage, and again if the
 * connection breaks. Returns the asset when the service has hashed the content. Sends nothing if the asset has this content already,
 * so an upload that was interrupted can be repeated. Exception: an asset that was created with a checksum keeps it, so a repeat of a
 * sample is not known from other content.
 * @throws ServiceProblem `conflict` if the asset has content under another hash, `forbidden` if it is another user's, or as uploadAsset
 */
export async function uploadContent(client: Client, options: UploadContentOptions): Promise<Asset> {
  const { domainID, id, onOtherHash, signal } = options;
  const { size, checksum } = await measureFile(options);
  const { data: found, response } = await client.call('getAsset', { domainID, id, signal });
  if (found === undefined) throw new TypeError('The service returned no asset.');
  if (found.state === 'ready') {
    if (found.checksum === checksum) return found;
    const detail = hasContent(found, checksum);
    throw new ServiceProblem({ status: 409, code: 'conflict', detail, request: `upload of the asset ${id}` });
  }
  const content = size === 0 ? { asset: '', checksum: null } : {}; // with content, the hash of the real file would be refused
  const etag = response.headers.get('etag');
  const asset = await changeForUpload(client, { domainID, id, signal }, { asset: found, etag, content });
  // A checksum that was given before is that of the real file. The content may be a sample of it.
  const expected = found.checksum ?? checksum;
  if (expected !== checksum) onOtherHash?.({ named: expected, found: checksum });
  return expectChecksum(asset.state === 'ready' ? asset : await sendContent(client, asset, size, options), expected);
}

function hasContent({ file_name, checksum }: Asset, found: string): string {
  const repeated = 'If you have sent this file before as a sample, it has arrived.';
  return `${file_name} has content already, under the hash ${checksum ?? 'none'}. This file has the hash ${found}. ${repeated} Otherwise create another asset for it.`;
}
