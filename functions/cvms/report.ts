import { reportContract } from '../../shared/contract/cvms.ts';
import { recordReports } from '../../shared/runs/record-reports.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openExecutions } from '../../shared/runs/executions.ts';
import { reportRoute } from '../../shared/routes.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(reportRoute, reportContract, async ({ path, body, now, deadline }) => {
  const batch = { domain: path.domainID, cvmId: path.cvmID, reports: body.reports, now };
  return { body: await recordReports(openTable(deadline), openExecutions(), batch) };
});
