import { getManifestContract } from '../../shared/contract/runs.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { readManifest } from '../../shared/manifest/read-manifest.ts';
import { getManifestRoute } from '../../shared/routes.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(getManifestRoute, getManifestContract, async ({ path, query, deadline }) => {
  return { body: await readManifest(openTable(deadline), path.domainID, path.id, query.run) };
});
