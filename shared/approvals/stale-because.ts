import { createHash } from 'node:crypto';
import type { Configuration } from 'computation-management-formats/approval-text';
import { characters, shownText } from 'computation-management-formats/fields';
import * as v from 'valibot';
import type { Manifest } from '../rows/manifest.ts';
import { parseStored, storedBytes, deflated, inflated } from '../table/stored.ts';
import type { Item } from '../table/table.ts';

export const mostChanges = 20;

/** In characters. */
const longestValue = 200;

const value = v.nullable(v.union([shownText(longestValue), v.boolean(), v.number()]));

export const approvalChange = v.pipe(
  v.object({
    path: v.pipe(
      shownText(200),
      v.description('The place in `{manifest, configuration, signature, expires_at, cvm_ids}`, a JSON pointer.'),
      v.examples(['/manifest/algorithm/hash']),
    ),
    approved: v.pipe(value, v.description('The value when the user approved. null: none.')),
    current: v.pipe(value, v.description('The value now. null: none.')),
  }),
  v.title('ApprovalChange'),
  v.description(
    'A reason why an approval does not count. Hashes are in hex. `sha256:` and a hash stands for a value of more than 200 characters. At ' +
      '`/signature`, the values are the keys; at `/expires_at`, the current value is the time of the request; at `/cvm_ids`, the values are ' +
      'the fingerprints of the certificates.',
  ),
);
export type ApprovalChange = v.InferOutput<typeof approvalChange>;

interface Dataset {
  filename: string;
  hash?: number[] | undefined;
  user_key?: string | undefined;
}

/** Parts of the manifest may be missing. */
export interface Covered {
  manifest: { datasets: Dataset[] };
  configuration: object;
}

/** Datasets are matched by their file names. */
export function changesBetween(approved: Covered, current: Covered): ApprovalChange[] {
  const { datasets: before, ...manifestBefore } = approved.manifest;
  const { datasets: after, ...manifestAfter } = current.manifest;
  return [
    ...differences('/manifest', manifestBefore, manifestAfter),
    ...differencesOfDatasets(before, after),
    ...differences('/configuration', approved.configuration, current.configuration),
  ];
}

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

/** Compares two values. */
export function change(path: string, before: unknown, after: unknown): ApprovalChange {
  return { path, approved: valueOf(before), current: valueOf(after) };
}

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
  if (isHash(part)) return Buffer.from(part).toString('hex');
  if (typeof part === 'boolean' || typeof part === 'number') return part;
  const text = typeof part === 'string' ? part : JSON.stringify(part);
  return characters(text) <= longestValue ? text : `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** What a user approved. */
interface Approved {
  manifest: Manifest;
  configuration: Configuration;
}

const storedApproved = v.object({ approved: storedBytes });

/** Of the item at `approvedKeys`. Deflated: a manifest may have 256 KB. */
export function approvedAttributes({ manifest, configuration }: Approved): v.InferOutput<typeof storedApproved> {
  return { approved: deflated(JSON.stringify({ manifest, configuration })) };
}

export function parseApproved(item: Item | undefined): Approved {
  return JSON.parse(inflated(parseStored(storedApproved, item, 'approved manifest').approved)) as Approved;
}
