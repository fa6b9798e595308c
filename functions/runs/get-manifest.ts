import { getManifestRoute } from '../../shared/endpoints/runs.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { readManifest } from '../../shared/runs/read-manifest.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(getManifestRoute, async ({ path, query, deadline }) => {
  const { manifest, digest, configuration_digest } = await readManifest(openTable(deadline), path.domainID, path.id, query.run);
  return { body: manifest, headers: { 'manifest-digest': digest, 'configuration-digest': configuration_digest } };
});
