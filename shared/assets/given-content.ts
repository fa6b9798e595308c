import { createHash } from 'node:crypto';
import { isBase64 } from 'computation-management-formats/fields';
import { invalid, invalidPlaces, type Violation } from '../runtime/errors.ts';
import type { Table } from '../table/table.ts';
import { putItem } from '../table/writes.ts';
import { contentTooLarge, inlineLimitInBytes, type StoredAsset } from '../rows/asset.ts';
import { type ContentCheck, contentCheckItem } from '../rows/content-check.ts';
import { type ContentStore, inlineKey, putContent } from '../rows/content-store.ts';
import { type Fetched, misfits } from 'computation-management-formats/source';
import type { ShownAssetType } from 'computation-management-formats/vocabulary';

/** Content that was sent within a request, decoded, with its hash. */
export interface InlineContent {
  bytes: Buffer;
  /** The SHA3-256, in hex, of the content that was sent within a request. */
  checksum: string;
}

/**
 * Decodes content that was sent in base64, and hashes it.
 * @throws ServiceError `invalid_request` if the content is not base64; `too_large` above the inline limit
 */
export function decodeContent(encoded: string): InlineContent {
  if (!isBase64(encoded)) throw invalid('/asset/asset', 'Expected base64 (RFC 4648, with padding).');
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length > inlineLimitInBytes) throw contentTooLarge(bytes.length);
  return { bytes, checksum: createHash('sha3-256').update(bytes).digest('hex') };
}

/**
 * Throws if the checksum that was sent with an asset does not match the content that was sent.
 * @throws ServiceError `invalid_request`
 */
export function matchChecksum(content: InlineContent, declared: string | null | undefined): void {
  if (declared && declared !== content.checksum) {
    throw invalid('/asset/checksum', `Expected the SHA3-256 of the content sent, which is ${content.checksum}.`);
  }
}

export type ContentFields = Pick<StoredAsset, 'state' | 'size' | 'checksum' | 'content_key' | 'content_checksum' | 'upload_key'>;

/**
 * Content that is in storage but not yet in its asset. The transaction that writes the asset's row takes `fields` and removes
 * `check`.
 */
export interface WrittenContent {
  fields: ContentFields;
  check: ContentCheck;
}

/**
 * Writes content to a new key in storage. First records that the key must be checked in two hours, so that it is deleted if no
 * asset refers to it. One round trip to the table, one to storage.
 */
export async function writeContent(
  table: Table,
  store: ContentStore,
  asset: { domain: string; id: string },
  { bytes, checksum }: InlineContent,
  now: string,
): Promise<WrittenContent> {
  const key = inlineKey(asset.domain, asset.id);
  const check = contentCheckItem(key, now);
  await putItem(table, check);
  await putContent(store, key, bytes);
  return {
    fields: { state: 'ready', size: bytes.length, checksum, content_key: key, content_checksum: checksum, upload_key: null },
    check,
  };
}

type Given = { [Name in keyof Fetched]?: Fetched[Name] | undefined };

/**
 * Returns how the agent fetches an asset after a request to create or change it. Fields that the request omits stay the same.
 * Removing `source` also removes the fields that only apply to it.
 */
export function fetchedAfter(given: Given, before?: Fetched): Fetched {
  const source = given.source === undefined ? (before?.source ?? null) : given.source;
  const kept = source === null ? undefined : before;
  const { kbs = kept?.kbs ?? null, decompress = kept?.decompress ?? null } = given;
  const { algo_type = kept?.algo_type ?? null, algo_args = kept?.algo_args ?? null } = given;
  return { source, kbs, decompress, algo_type, algo_args };
}

/**
 * Throws if the fields for content that the agent fetches do not fit the asset, or its content or checksum.
 * @throws ServiceError `invalid_request` that names each field that does not fit
 */
export function refuseMisfits(
  asset: { asset_type: ShownAssetType } & Fetched,
  { content, checksum }: { content: string | undefined; checksum: string | null | undefined },
): void {
  const [first, ...others]: Violation[] = misfits(asset).map(({ field, expected }) => ({
    pointer: `/asset/${field}`,
    detail: expected,
  }));
  if (first) throw invalidPlaces([first, ...others]);
  if (asset.source === null) return;
  if (content !== undefined) throw invalid('/asset/asset', 'Expected no content: the agent fetches it from `source`.');
  if (!checksum)
    throw invalid('/asset/checksum', 'Expected the SHA3-256 of the plain content: the service never reads `source`.');
}

/** The content fields of an asset whose content the agent fetches itself: the service stores none. */
export const withoutContent: Omit<ContentFields, 'checksum'> = {
  state: 'ready',
  size: null,
  content_key: null,
  content_checksum: null,
  upload_key: null,
};
