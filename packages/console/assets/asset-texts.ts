import { largestUploadInBytes, type Schemas, ServiceProblem } from 'computation-management-client';
import { quotedName } from 'computation-management-formats/quoted-name';
import { sizeText } from '../show/texts.ts';

type AssetType = Schemas['AssetRow']['asset_type'];

/** The types of assets that a user can create. */
export const assetTypeOptions: { value: Exclude<AssetType, 'result'>; label: string }[] = [
  { value: 'algorithm', label: 'Algorithm' },
  { value: 'dataset', label: 'Dataset' },
];

export function assetTypeText(type: AssetType): string {
  return type === 'result' ? 'Result' : type === 'algorithm' ? 'Algorithm' : 'Dataset';
}

/** Returns why a file cannot be uploaded, or undefined if it can. */
export function fileFault(file: { size: number } | undefined): string | undefined {
  if (!file || file.size <= largestUploadInBytes) return undefined;
  const largest = sizeText(largestUploadInBytes);
  return `The file has ${sizeText(file.size)}. Storage takes files of up to ${largest}: split it, or compress it.`;
}

const changes = {
  file_name_taken: 'The computation has a dataset of this name. Choose another name, or unlink that dataset first.',
  second_algorithm: 'The computation has an algorithm. Choose another type, or unlink that algorithm first.',
};

/** Returns whether an error of the service says that the computation has no place for an asset of its name or type. */
export function hasNoPlace(problem: unknown): boolean {
  return problem instanceof ServiceProblem && (problem.code === 'conflict' || problem.code === 'too_large');
}

/** Returns the advice for a conflict between an asset and a computation. Undefined for an error with another reason than the given one. */
export function linkConflict(problem: unknown, reason: keyof typeof changes): string | undefined {
  return problem instanceof ServiceProblem && problem.reason === reason ? changes[reason] : undefined;
}

/** Returns what is wrong with the SHA3-256 of a file. Undefined if nothing is, or nothing was typed. */
export function checksumNote(checksum: string): string | undefined {
  if (checksum === '' || /^[0-9a-f]{64}$/i.test(checksum)) return undefined;
  const [, before] = /^(.+?)[0-9a-f]{64}$/i.exec(checksum) ?? [];
  if (before !== undefined) return `Remove ${quotedName(before)}, and keep the 64 hex digits of the SHA3-256.`;
  return `A SHA3-256 has 64 hex digits, and this has ${checksum.length} characters. Choose the file: its hash is computed here.`;
}
