import * as v from 'valibot';
import { orNotFound, ServiceError } from '../runtime/errors.ts';
import { runKeys } from '../table/keys.ts';
import { type Table, getItems } from '../table/table.ts';
import { approvableOf, type Manifest, readInputs } from '../rows/manifest.ts';
import { storedSnapshot } from '../rows/run-snapshot.ts';
import { parseStored } from '../table/stored.ts';
import { computationKey, parseComputation, readComputation } from '../rows/computation.ts';

/** A manifest with its digest and the digest of the configuration. */
interface DigestedManifest {
  manifest: Manifest;
  /** The SHA3-256, in hex, of the canonical JSON of the manifest of a run. */
  digest: string;
  configuration_digest: string;
}

/**
 * Reads the manifest of a run, or, without `runId`, the manifest that a run would get now, approved or not.
 * @throws ServiceError `not_found`; `incomplete` with the missing items, because an incomplete manifest would crash an agent
 */
export async function readManifest(table: Table, domain: string, id: string, runId: string | undefined) {
  return runId === undefined ? await manifestOfNow(table, domain, id) : await manifestOfRun(table, domain, id, runId);
}

const ofRun = v.pick(storedSnapshot, ['manifest', 'manifest_digest', 'configuration_digest']);

async function manifestOfRun(table: Table, domain: string, id: string, runId: string): Promise<DigestedManifest> {
  const [row, item] = await getItems(table, [computationKey(domain, id), runKeys.snapshot(id, runId)]);
  parseComputation(row, id);
  const found = orNotFound(item, 'run of this computation');
  const { manifest, manifest_digest: digest, configuration_digest } = parseStored(ofRun, found, 'snapshot of a run');
  return { manifest, digest, configuration_digest };
}

async function manifestOfNow(table: Table, domain: string, id: string): Promise<DigestedManifest> {
  const approvable = approvableOf(await readInputs(table, domain, await readComputation(table, domain, id)));
  if (!approvable.missing) return approvable;
  throw new ServiceError('incomplete', 'The computation is not ready to run and has no manifest yet.', {
    missing_items: approvable.missing,
  });
}
