import { contract, route } from '../../shared/endpoints/runs/dry-run.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { buildManifest } from '../../shared/manifest/build-manifest.ts';
import { readInputs } from '../../shared/manifest/read-inputs.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, deadline }) => {
  const { missing } = buildManifest(await readInputs(openTable(deadline), path.domainID, path.id));
  return { body: { missing_items: missing ?? { keys: [], hashes: [], info: [] } } };
});
