import { S3Error } from './s3-error.ts';

const unusable = new Set(['', '.', '..']);

/**
 * Returns the parts of an object's key between its slashes, which name directories and a file.
 * @throws S3Error 400 if one of them would lead elsewhere on a disk
 */
export function partsOfKey(key: string): string[] {
  const parts = key.split('/');
  if (parts.some((part) => unusable.has(part))) throw new S3Error(400, 'InvalidURI', "Couldn't parse the specified URI.");
  return parts;
}
