import { getEvidenceRoute } from '../../shared/endpoints/evidence.ts';
import { environment } from '../../shared/runtime/environment.ts';
import type { Statement } from '../../shared/evidence/evidence.ts';
import { readEvidence } from '../../shared/evidence/read-evidence.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openLogStore } from '../../shared/history/index.ts';
import { openTable } from '../../shared/table/table.ts';
import { openKms } from '../../shared/runtime/clients.ts';

export const handler = endpoint(getEvidenceRoute, async ({ path, query, now, deadline }) => {
  const sources = { table: openTable(deadline), store: openLogStore(deadline), kms: openKms(deadline) };
  const { statement, ...signature } = await readEvidence(sources, {
    domain: path.domainID,
    computationId: path.id,
    runId: query.run,
    serviceVersion: environment().SERVICE_VERSION,
    now,
  });
  return { body: { statement: statement as Statement, ...signature }, isKept: true as const };
});
