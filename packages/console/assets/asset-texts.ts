import { largestUploadInBytes, type Schemas, ServiceProblem } from 'computation-management-client';
import { sizeText } from '../show/texts.ts';

type AssetType = Schemas['AssetRow']['asset_type'];

export const assetTypeOptions: { value: AssetType; label: string }[] = [
  { value: 'algorithm', label: 'Algorithm' },
  { value: 'dataset', label: 'Dataset' },
];

export function assetTypeText(type: AssetType): string {
  return type === 'algorithm' ? 'Algorithm' : 'Dataset';
}

export const accessOptions = [
  { value: 'creator', label: 'Only me', description: 'Nobody else can read it, not even administrators.' },
  { value: 'domain', label: 'Every member of the domain', description: 'You see who read it.' },
] as const;

export const useOptions = [
  { value: 'open', label: 'Open', description: 'Computations may use it without asking you.' },
  { value: 'approval', label: 'With my approval', description: 'A run needs your approval of its manifest.' },
] as const;

/** The texts of every field that takes one file. */
export const fileUploadTexts = {
  uploadButtonText: () => 'Choose file',
  dropzoneText: () => 'Drop the file here',
  formatFileSize: sizeText,
  removeFileAriaLabel: () => 'Remove the file',
  limitShowFewer: 'Show fewer',
  limitShowMore: 'Show more',
  errorIconAriaLabel: 'Error',
  warningIconAriaLabel: 'Warning',
};

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

/** Whether the computation has no place for an asset of this name or type. */
export function hasNoPlace(problem: unknown): boolean {
  return problem instanceof ServiceProblem && (problem.code === 'conflict' || problem.code === 'too_large');
}

/** Returns what the user can change so that there is a place, if the problem has this reason. */
export function linkConflict(problem: unknown, reason: keyof typeof changes): string | undefined {
  return problem instanceof ServiceProblem && problem.reason === reason ? changes[reason] : undefined;
}
