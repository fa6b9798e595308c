import { toHex } from './bytes.ts';
import { hashOfBytes } from './digests.ts';
import { characters } from './fields.ts';

/** The largest number of changes that the service names for one approval. */
export const mostChanges = 20;

/**
 * The longest value that is shown of a changed member, in Unicode code points. A longer value is replaced by `sha256:` and its
 * hash.
 */
export const longestValue = 200;

/**
 * A value in the manifest or configuration that an approval covers, as it is shown. Hashes are in hex, and longer values are
 * replaced by their hash. null: there is no value.
 */
export type CoveredValue = string | number | boolean | null;

/** A difference between what a user approved and what would run now. */
export interface ApprovalChange {
  /** The place of the difference in `{manifest, configuration, signature, expires_at, cvm_ids}`, as a JSON pointer. */
  path: string;
  approved: CoveredValue;
  current: CoveredValue;
}

/** The parts of a dataset in a manifest that are compared. */
interface Dataset {
  filename: string;
  hash?: number[] | undefined;
  user_key?: string | undefined;
}

/** The manifest and the configuration that an approval covers. A manifest that is not complete may lack members. */
export interface Covered {
  manifest: { datasets: Dataset[] };
  configuration: object;
}

/**
 * Returns the differences between the manifest and configuration that were approved and those that would run now. Datasets are
 * matched by their file names.
 */
export function changesBetween(approved: Covered, current: Covered): ApprovalChange[] {
  const { datasets: before, ...manifestBefore } = approved.manifest;
  const { datasets: after, ...manifestAfter } = current.manifest;
  return [
    ...differences('/manifest', manifestBefore, manifestAfter),
    ...differencesOfDatasets(before, after),
    ...differences('/configuration', approved.configuration, current.configuration),
  ];
}

/**
 * Returns the differences between the datasets of two manifests: datasets that were added, removed, changed or moved to another
 * place.
 */
function differencesOfDatasets(before: Dataset[], after: Dataset[]): ApprovalChange[] {
  const find = (all: Dataset[], name: string) => all.find(({ filename }) => filename === name);
  const at = (index: number, ...[one, other]: [Dataset | undefined, Dataset | undefined]) =>
    differences(`/manifest/datasets/${index}`, one, other);
  const stay = before.filter(({ filename }) => find(after, filename));
  const moved = after.filter(({ filename }) => find(before, filename));
  return [
    ...before.flatMap((dataset, index) => (find(after, dataset.filename) ? [] : at(index, dataset, undefined))),
    ...after.flatMap((dataset, index) => at(index, find(before, dataset.filename), dataset)),
    ...moved.flatMap((dataset, index) =>
      differences(`/manifest/datasets/${after.indexOf(dataset)}/filename`, stay[index]?.filename, dataset.filename),
    ),
  ];
}

/**
 * Returns a difference between two values, as it is shown. Values of more than 200 characters are replaced by their hash.
 * @param path the place of the values, as a JSON pointer
 */
export function change(path: string, before: unknown, after: unknown): ApprovalChange {
  return { path, approved: valueOf(before), current: valueOf(after) };
}

/**
 * Returns the differences between two JSON values, with their paths below a path. Hashes, which are arrays of numbers, are
 * compared as a whole.
 */
function differences(path: string, before: unknown, after: unknown): ApprovalChange[] {
  if (!hasParts(before) && !hasParts(after)) {
    const changed = change(path, before, after);
    return changed.approved === changed.current ? [] : [changed];
  }
  const [parts, others] = [partsOf(before), partsOf(after)];
  const names = new Set([...Object.keys(parts), ...Object.keys(others)]);
  return [...names].flatMap((name) => differences(`${path}/${name}`, parts[name], others[name]));
}

const isHash = (part: unknown): part is number[] => Array.isArray(part) && typeof part[0] === 'number';

function hasParts(part: unknown): boolean {
  return typeof part === 'object' && part !== null && !isHash(part);
}

function partsOf(part: unknown): Record<string, unknown> {
  return hasParts(part) ? { ...(part as object) } : {};
}

function valueOf(part: unknown): ApprovalChange['current'] {
  if (part === undefined || part === null) return null;
  if (isHash(part)) return toHex(part);
  if (typeof part === 'boolean' || typeof part === 'number') return part;
  const text = typeof part === 'string' ? part : JSON.stringify(part);
  return characters(text) <= longestValue ? text : `sha256:${hashOfBytes(new TextEncoder().encode(text))}`;
}
