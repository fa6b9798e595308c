import type { StoredAsset } from '../rows/asset.ts';
import { truncate } from '../runtime/errors.ts';

/** What remains of a name for a reader who overlooks case, kinds of letters and blanks, and what nobody sees. */
function lookOf(name: string): string {
  const letters = name.normalize('NFKC').toLowerCase().normalize('NFKC');
  return letters
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}

function alike(datasets: readonly StoredAsset[], keyOf: (dataset: StoredAsset) => string): string[] {
  const groups = [...Map.groupBy(datasets, keyOf).values()].filter((group) => group.length > 1);
  return groups.map((group) => truncate(group.map(({ file_name }) => JSON.stringify(file_name)).join(' and '), 900));
}

/** Returns what may be a mistake and keeps no run from starting: an agent tells datasets apart by their content, people by their names. */
export function warningsOf(datasets: readonly StoredAsset[]): string[] {
  const withContent = datasets.filter(({ checksum }) => checksum !== null);
  return [
    ...alike(withContent, ({ checksum }) => checksum ?? '').map((names) => `${names} have the same content`),
    ...alike(datasets, ({ file_name }) => lookOf(file_name)).map((names) => `${names} have names that look the same`),
  ];
}
