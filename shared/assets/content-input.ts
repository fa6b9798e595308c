import { createHash } from 'node:crypto';
import { isBase64 } from 'computation-management-formats/fields';
import { invalid } from '../runtime/errors.ts';
import { contentTooLarge, inlineLimitInBytes } from './asset.ts';

export interface InlineContent {
  bytes: Buffer;
  /** SHA3-256, hex. */
  checksum: string;
}

/**
 * Decodes content that was sent inline.
 * @throws ServiceError `invalid_request` if it is not base64; `too_large`
 */
export function decodeContent(encoded: string): InlineContent {
  if (!isBase64(encoded)) throw invalid('/asset/asset', 'Expected base64 (RFC 4648, with padding).');
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length > inlineLimitInBytes) throw contentTooLarge(bytes.length);
  return { bytes, checksum: createHash('sha3-256').update(bytes).digest('hex') };
}

/** @throws ServiceError `invalid_request` if a checksum was sent that does not match the content */
export function matchChecksum(content: InlineContent, declared: string | null | undefined): void {
  if (declared && declared !== content.checksum) {
    throw invalid('/asset/checksum', `Expected the SHA3-256 of the content sent, which is ${content.checksum}.`);
  }
}
