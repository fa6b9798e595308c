import type { Schemas } from '../generated/api-types.ts';
import type { CallOptions, Client } from '../calls/create-client.ts';
import { retry } from '../calls/retry.ts';
import { ServiceProblem } from '../calls/service-problem.ts';
import { retryLimit } from './repeat-transfer.ts';

interface Place extends CallOptions {
  id: string;
}

const firstPauseInMilliseconds = 100;

/**
 * Gets a new link to which the content of a pending asset can be sent. Returns undefined if the content has arrived.
 * @throws ServiceProblem `forbidden` if the asset is another user's, `precondition_failed` if the asset keeps changing; the
 *   signal's reason
 */
export async function renewUpload(client: Client, place: Place): Promise<Schemas['AssetUpload'] | undefined> {
  const limit = retryLimit(firstPauseInMilliseconds);
  const attempt = async () => {
    const { data: asset, response } = await client.call('getAsset', place);
    if (asset === undefined || asset.state === 'ready') return undefined;
    if (asset.asset_type === 'result') return asset.upload; // which every read of its uploader returns
    return (await changeForUpload(client, place, { asset, etag: response.headers.get('etag') })).upload;
  };
  const pauseAfter = (error: unknown) =>
    error instanceof ServiceProblem && error.code === 'precondition_failed' ? limit().next : undefined;
  return await retry(attempt, { signal: place.signal, pauseAfter });
}

/**
 * Updates a pending asset with its own fields to get a link for its content: only a change returns a link. `content` changes
 * further fields.
 * @throws ServiceProblem `forbidden` if the asset is another user's
 */
export async function changeForUpload(
  client: Client,
  { domainID, id, signal }: Place,
  { asset, etag, content = {} }: { asset: Schemas['Asset']; etag: string | null; content?: { asset?: string; checksum?: null } },
): Promise<Schemas['Asset']> {
  const body = { asset: { ...asset, ...content } };
  const changed = await client.updateAsset({ domainID, id, body, ifMatch: etag ?? undefined, signal });
  if (changed.upload || changed.state === 'ready') return changed;
  const detail = onlyCreatorUploads(asset);
  throw new ServiceProblem({ status: 403, code: 'forbidden', detail, request: `upload of the asset ${id}` });
}

export function onlyCreatorUploads({ created_by, file_name }: Pick<Schemas['Asset'], 'created_by' | 'file_name'>): string {
  return `Only ${created_by} uploads the content of ${file_name}.`;
}
