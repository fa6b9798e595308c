import { openContentStore } from '../../shared/rows/content-store.ts';
import { describeAsset } from '../../shared/assets/describe-asset.ts';
import { getAssetRoute } from '../../shared/endpoints/assets.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(getAssetRoute, async ({ path, caller, isHead, now, ifNoneMatch, deadline }) => {
  const { etag, asset } = await describeAsset(openTable(deadline), openContentStore(deadline), {
    domain: path.domainID,
    id: path.id,
    by: caller.id,
    now,
    isKnown: ifNoneMatch,
    withoutContent: isHead,
  });
  return asset ? { etag, body: asset } : { etag, notModified: true };
});
