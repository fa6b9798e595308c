import * as v from 'valibot';
import { canonicalDigest } from '../canonical-json.ts';
import { notFound, ServiceError } from '../errors.ts';
import { numberOf } from '../identifiers.ts';
import { parseStored } from '../table/parse-stored.ts';
import { computationKey, parseComputation, readComputation } from '../computations/find-computation.ts';
import { runKeys } from '../table/keys.ts';
import { getItems, type Table } from '../table/table.ts';
import { buildManifest } from './build-manifest.ts';
import { manifestSchema, type Manifest } from './manifest.ts';
import { readInputs } from './read-inputs.ts';

/** A manifest and its digest: the SHA3-256, hex, of its canonical JSON. */
interface DigestedManifest {
  manifest: Manifest;
  digest: string;
}

/**
 * Reads the manifest that a run was started with. Without `runId`, builds the manifest that a run would get now, whether it is
 * approved or not.
 * @throws ServiceError `not_found`; `incomplete` with the missing items, because an incomplete manifest would crash an agent
 */
export async function readManifest(
  table: Table,
  domain: string,
  id: string,
  runId: string | undefined,
): Promise<DigestedManifest> {
  const manifest = runId === undefined ? await manifestOfNow(table, domain, id) : await manifestOfRun(table, domain, id, runId);
  return { manifest, digest: canonicalDigest(manifest) };
}

async function manifestOfRun(table: Table, domain: string, id: string, runId: string): Promise<Manifest> {
  if (numberOf(runId) === undefined) throw notFound('run of this computation');
  const [row, snapshot] = await getItems(table, [computationKey(domain, id), runKeys.snapshot(id, runId)]);
  parseComputation(row, id);
  if (!snapshot) throw notFound('run of this computation');
  return parseStored(v.object({ manifest: manifestSchema }), snapshot, 'snapshot of a run').manifest;
}

async function manifestOfNow(table: Table, domain: string, id: string): Promise<Manifest> {
  const { manifest, missing } = buildManifest(await readInputs(table, domain, await readComputation(table, domain, id)));
  if (missing) {
    throw new ServiceError('incomplete', 'The computation is not ready to run and has no manifest yet.', {
      missing_items: missing,
    });
  }
  return manifest;
}
