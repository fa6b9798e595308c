import { largestInBytes } from '../../client/transfer/storage-limit.ts';
import { sizeText } from '../show/size-text.ts';

/** Returns why a file cannot be uploaded, or undefined if it can. */
export function fileFault(file: { size: number } | undefined): string | undefined {
  if (!file || file.size <= largestInBytes) return undefined;
  return `The file has ${sizeText(file.size)}. Storage takes files of up to ${sizeText(largestInBytes)}: split it, or compress it.`;
}
