/**
 * What storage's answer to an upload with a presigned request means for the one who sends:
 *
 * - `arrived`: the content is there. 412 says that an earlier attempt has arrived, although its answer was lost.
 * - `expired`: the link must be renewed. A link that was just made is not expired: then storage refuses for another reason.
 * - `again`: the same may succeed later. 409 says that storage still works on an attempt that was cut off, and 408 or `RequestTimeout`
 *   that the content arrived too slowly.
 * - `refused`: it will not succeed.
 */
export type StorageAnswer = 'arrived' | 'expired' | 'again' | 'refused';

const passing = [408, 409, 429];

/** Returns what an answer means. @param body the XML of storage's answer, which names an error in `<Code>` */
export function storageAnswer(status: number, body: string): StorageAnswer {
  if ((status >= 200 && status < 300) || status === 412) return 'arrived';
  if (status === 403) return 'expired';
  return passing.includes(status) || status >= 500 || body.includes('<Code>RequestTimeout</Code>') ? 'again' : 'refused';
}
