import { largestUploadInBytes } from 'computation-management-client';
import { sizeText } from '../show/size-text.ts';

/** Returns why a file cannot be uploaded, or undefined if it can. */
export function fileFault(file: { size: number } | undefined): string | undefined {
  if (!file || file.size <= largestUploadInBytes) return undefined;
  const largest = sizeText(largestUploadInBytes);
  return `The file has ${sizeText(file.size)}. Storage takes files of up to ${largest}: split it, or compress it.`;
}
