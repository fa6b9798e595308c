import { getResultRoute } from '../../shared/endpoints/evidence.ts';
import { environment } from '../../shared/runtime/environment.ts';
import { openKms } from '../../shared/runtime/clients.ts';
import { openLogStore } from '../../shared/history/index.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { readResult } from '../../shared/results/read-result.ts';
import type { ResultStatement } from '../../shared/results/result-statement.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(getResultRoute, async ({ path, query, now, deadline }) => {
  const sources = { table: openTable(deadline), store: openLogStore(deadline), kms: openKms(deadline) };
  const { statement, ...signature } = await readResult(sources, {
    domain: path.domainID,
    computationId: path.id,
    runId: query.run,
    serviceVersion: environment().SERVICE_VERSION,
    now,
  });
  return { body: { statement: statement as ResultStatement, ...signature }, isKept: true as const };
});
