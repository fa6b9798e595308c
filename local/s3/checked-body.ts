import { createHash } from 'node:crypto';
import { S3Error } from './s3-error.ts';

/**
 * Yields a body, and compares it with the hash that was signed. Yields the last chunk only after the check, so that the receiver
 * never gets a complete body with a wrong hash.
 * @param signed the SHA-256 in hexadecimal, or `UNSIGNED-PAYLOAD` or `STREAMING-...`, which say that it was not signed as a whole
 * @throws S3Error 400 at the end if the body has another hash
 */
export async function* checkedBody(body: AsyncIterable<Buffer>, signed: string): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let last: Buffer | undefined;
  for await (const chunk of body) {
    hash.update(chunk);
    if (last) yield last;
    last = chunk;
  }
  if (signed !== 'UNSIGNED-PAYLOAD' && !signed.startsWith('STREAMING-') && hash.digest('hex') !== signed) {
    const message = "The provided 'x-amz-content-sha256' header does not match what was computed.";
    throw new S3Error(400, 'XAmzContentSHA256Mismatch', message);
  }
  if (last) yield last;
}
