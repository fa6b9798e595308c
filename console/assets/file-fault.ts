import { sizeText } from '../show/size-text.ts';

/** The most that one request to storage may carry. */
const mostBytes = 5 * 1_024 ** 3;

/** Returns why a file cannot be uploaded, or undefined if it can. */
export function fileFault(file: { size: number } | undefined): string | undefined {
  if (!file || file.size <= mostBytes) return undefined;
  return `The file has ${sizeText(file.size)}. Storage takes files of up to ${sizeText(mostBytes)}: split it, or compress it.`;
}
