import { contract, route } from '../../shared/endpoints/runs/dry-run.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { readMissingItems } from '../../shared/manifest/read-manifest.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, deadline }) => ({
  body: { missing_items: await readMissingItems(openTable(deadline), path.domainID, path.id) },
}));
