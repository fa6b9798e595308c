import { reportRoute } from '../../shared/endpoints/cvms.ts';
import { recordReports } from '../../shared/cvms/record-reports.ts';
import { bytesOf, endpoint } from '../../shared/http/endpoint.ts';
import { openExecutions } from '../../shared/lifecycle/index.ts';
import { openTable } from '../../shared/table/table.ts';
import { refuseLarger } from '../../shared/http/parse.ts';

export const handler = endpoint(reportRoute, async ({ path, body, now, deadline, received }) => {
  const hasToken = body.reports.some((report) => report.type === 'attestation' || 'isToken' in report);
  if (!hasToken) refuseLarger(bytesOf(received).length);
  const batch = { domain: path.domainID, cvmId: path.cvmID, reports: body.reports, now };
  return { body: await recordReports(openTable(deadline), openExecutions(deadline), batch) };
});
