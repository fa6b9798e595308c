import { type Client, type Schemas, ServiceProblem } from '../../client/index.ts';
import { wholeAnswer } from '../loading/whole-answer.ts';

/**
 * Returns a new link for the content of an asset that has none yet, or undefined if the content has arrived. Only a change returns a
 * link (docs/contract.md, section 4), so the asset is changed to what it is. Reads it again if someone changes it in between, or if the
 * content arrives.
 * @throws ServiceProblem `forbidden` if the asset is another user's
 */
export async function renewUpload(client: Client, id: string, signal: AbortSignal): Promise<Schemas['AssetUpload'] | undefined> {
  for (;;) {
    const { data: found, etag } = wholeAnswer(await client.call('getAsset', { id, signal }));
    if (found.state === 'ready') return undefined;
    const changed = await client.updateAsset({ id, ifMatch: etag, body: { asset: found }, signal }).catch(unlessOutdated);
    if (changed === undefined) continue;
    if (changed.upload || changed.state === 'ready') return changed.upload;
    const detail = `Only ${found.created_by} uploads the content of ${found.file_name}.`;
    throw new ServiceProblem({ status: 403, code: 'forbidden', detail, request: `upload of the asset ${id}` });
  }
}

/** @throws any error but that the asset has changed */
function unlessOutdated(error: unknown): undefined {
  if (!(error instanceof ServiceProblem) || error.code !== 'precondition_failed') throw error;
}
