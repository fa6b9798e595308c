import type { Client } from 'computation-management-client';
import { type Coverage, readCoverage } from 'computation-management-words';
import { loadOverview, type Overview } from '../loading/overview.ts';

/** Everything that a user looks at before approving. */
export interface Consent {
  overview: Overview;
  coverage: Coverage;
}

/** Reads what an approval covers. @throws ContradictionError; ServiceProblem, also while there is no manifest */
export async function loadConsent(client: Client, id: string, signal: AbortSignal): Promise<Consent> {
  const overview = await loadOverview(client, id, signal);
  return { overview, coverage: await readCoverage(client, { id, computation: overview.computation, signal }) };
}
