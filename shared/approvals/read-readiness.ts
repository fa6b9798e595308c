import { readComputation } from '../computations/find-computation.ts';
import type { MissingItems } from '../manifest/manifest.ts';
import { readInputs } from '../manifest/read-inputs.ts';
import type { Table } from '../table/table.ts';
import { readinessOf } from './readiness.ts';

/**
 * Reads what is missing before a run on any CVM, and the digest of the manifest if there is one. Three round trips.
 * @param at RFC 3339, UTC, milliseconds
 * @throws ServiceError `not_found`
 */
export async function readReadiness(
  table: Table,
  domain: string,
  id: string,
  at: string,
): Promise<{ missing: MissingItems; digest: string | undefined }> {
  const inputs = await readInputs(table, domain, await readComputation(table, domain, id));
  const { snapshot, missing } = readinessOf(inputs, { at });
  return { missing, digest: snapshot?.manifest_digest };
}
