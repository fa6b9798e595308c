import { readinessOf } from '../approvals/index.ts';
import { readInputs } from '../rows/manifest.ts';
import { truncate } from '../runtime/errors.ts';
import type { Table } from '../table/table.ts';
import type { StoredAsset } from '../rows/asset.ts';
import { readComputation } from '../rows/computation.ts';
import { readCvmForRun, judgeCvm, refusalsOf, refusalsOfKeys } from './start-run.ts';

interface ReadinessRequest {
  domain: string;
  id: string;
  /** The identifier of the CVM that the run is to use. Undefined for a run on any CVM. */
  cvmId?: string | undefined;
  at: string;
}

/**
 * Reads what a run of a computation still lacks, with the reasons for which a start on the CVM would be refused, and warnings.
 * Three round trips, or five with a CVM and an attestation policy.
 * @throws ServiceError `not_found`
 */
export async function readReadiness(table: Table, { domain, id, cvmId, at }: ReadinessRequest) {
  const [computation, cvm] = await Promise.all([
    readComputation(table, domain, id),
    cvmId === undefined ? undefined : readCvmForRun(table, { domain, cvm_id: cvmId }, at),
  ]);
  const inputs = await readInputs(table, domain, computation);
  const { snapshot, missing, configuration_digest } = readinessOf(inputs, { at, cvm });
  const judged = cvm && (await judgeCvm(table, inputs, { domain, cvm }, at));
  const refusals = cvm ? refusalsOf(inputs, cvm, judged, at) : refusalsOfKeys(inputs);
  return {
    missing: { ...missing, info: [...missing.info, ...refusals.map(({ message }) => message)] },
    warnings: warningsOf(inputs.datasets),
    digest: snapshot?.manifest_digest,
    configuration_digest,
  };
}

/**
 * Returns what remains of the name of a dataset for a reader who overlooks case, kinds of letters and blanks. Characters that
 * nobody sees are left out too.
 */
function lookOf(name: string): string {
  const letters = name.normalize('NFKC').toLowerCase().normalize('NFKC');
  return letters
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Lists groups of datasets for which `keyOf` returns the same, each group as a text with the names of the datasets. */
function alike(datasets: readonly StoredAsset[], keyOf: (dataset: StoredAsset) => string): string[] {
  const groups = [...Map.groupBy(datasets, keyOf).values()].filter((group) => group.length > 1);
  return groups.map((group) => truncate(group.map(({ file_name }) => JSON.stringify(file_name)).join(' and '), 900));
}

/**
 * Lists warnings about the datasets of a computation, which keep no run from starting: datasets with the same content, and
 * datasets whose names look the same. An agent tells datasets apart by their content, people by their names.
 */
export function warningsOf(datasets: readonly StoredAsset[]): string[] {
  const withContent = datasets.filter(({ checksum }) => checksum !== null);
  return [
    ...alike(withContent, ({ checksum }) => checksum ?? '').map((names) => `${names} have the same content`),
    ...alike(datasets, ({ file_name }) => lookOf(file_name)).map((names) => `${names} have names that look the same`),
  ];
}
