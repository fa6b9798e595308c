import { report as route } from '../../shared/endpoints/cvms.ts';
import { recordReports } from '../../shared/runs/record-reports.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openExecutions } from '../../shared/runs/executions.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, async ({ path, body, now, deadline }) => {
  const batch = { domain: path.domainID, cvmId: path.cvmID, reports: body.reports, now };
  return { body: await recordReports(openTable(deadline), openExecutions(deadline), batch) };
});
