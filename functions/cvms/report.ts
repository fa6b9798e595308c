import { reportRoute } from '../../shared/endpoints/cvms.ts';
import { recordReports } from '../../shared/cvms/record-reports.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openExecutions } from '../../shared/lifecycle/index.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(reportRoute, async ({ path, body, now, deadline }) => {
  const batch = { domain: path.domainID, cvmId: path.cvmID, reports: body.reports, now };
  return { body: await recordReports(openTable(deadline), openExecutions(deadline), batch) };
});
