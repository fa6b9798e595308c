import { dryRunContract } from '../../shared/contract/runs.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { buildManifest } from '../../shared/manifest/build-manifest.ts';
import { readInputs } from '../../shared/manifest/read-inputs.ts';
import { dryRunRoute } from '../../shared/routes.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(dryRunRoute, dryRunContract, async ({ path, deadline }) => {
  const { missing } = buildManifest(await readInputs(openTable(deadline), path.domainID, path.id));
  return { body: { missing_items: missing ?? { keys: [], hashes: [], info: [] } } };
});
