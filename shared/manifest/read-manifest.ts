import * as v from 'valibot';
import { notFound, ServiceError } from '../errors.ts';
import { numberOf } from '../identifiers.ts';
import { parseStored } from '../table/parse-stored.ts';
import { computationKey, parseComputation } from '../computations/find-computation.ts';
import { runKeys } from '../table/keys.ts';
import { getItems, type Table } from '../table/table.ts';
import { buildManifest } from './build-manifest.ts';
import { manifestSchema, type Manifest } from './manifest.ts';
import { readInputs } from './read-inputs.ts';

/**
 * The manifest that a run was started with, or, without `runId`, the one that a run would be started with now.
 * @throws ServiceError `not_found`; `incomplete` with what is missing, since an incomplete manifest would end an agent
 */
export async function readManifest(table: Table, domain: string, id: string, runId: string | undefined): Promise<Manifest> {
  if (runId !== undefined) {
    if (numberOf(runId) === undefined) throw notFound('run of this computation');
    const [row, snapshot] = await getItems(table, [computationKey(domain, id), runKeys.snapshot(id, runId)]);
    parseComputation(row, id);
    if (!snapshot) throw notFound('run of this computation');
    return parseStored(v.object({ manifest: manifestSchema }), snapshot, 'snapshot of a run').manifest;
  }
  const { manifest, missing } = buildManifest(await readInputs(table, domain, id));
  if (missing)
    throw new ServiceError('incomplete', 'The computation is not ready to run, so it has no manifest yet.', {
      missing_items: missing,
    });
  return manifest;
}
