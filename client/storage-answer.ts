/**
 * What the status of storage's answer to an upload with a presigned request means for the one who sends:
 *
 * - `arrived`: the content is there. 412 says that an earlier attempt has arrived, although its answer was lost.
 * - `expired`: the link must be renewed.
 * - `again`: the same may succeed later. 409 says that storage still works on an attempt that was cut off.
 * - `refused`: it will not succeed.
 */
export type StorageAnswer = 'arrived' | 'expired' | 'again' | 'refused';

/** Returns what a status means. */
export function storageAnswer(status: number): StorageAnswer {
  if ((status >= 200 && status < 300) || status === 412) return 'arrived';
  if (status === 403) return 'expired';
  return status === 409 || status === 429 || status >= 500 ? 'again' : 'refused';
}
