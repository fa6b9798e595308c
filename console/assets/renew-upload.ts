import { type Client, type Schemas, ServiceProblem } from '../../client/index.ts';
import { wholeAnswer } from '../loading/whole-answer.ts';

/**
 * Returns a new link for the content of an asset that has none yet, or undefined if the content has arrived. Only a change returns a
 * link (docs/contract.md, section 4), so the asset is changed to what it is.
 * @throws ServiceProblem `forbidden` if the asset is another user's
 */
export async function renewUpload(client: Client, id: string, signal: AbortSignal): Promise<Schemas['AssetUpload'] | undefined> {
  const { data: found, etag } = wholeAnswer(await client.call('getAsset', { id, signal }));
  if (found.state === 'ready') return undefined;
  const { state, upload } = await client.updateAsset({ id, ifMatch: etag, body: { asset: found }, signal });
  if (upload || state === 'ready') return upload;
  const detail = `Only ${found.created_by} uploads the content of ${found.file_name}.`;
  throw new ServiceProblem({ status: 403, code: 'forbidden', detail, request: `upload of the asset ${id}` });
}
