import { type Fetched, misfits } from 'computation-management-formats/source';
import type { ShownAssetType } from 'computation-management-formats/vocabulary';
import { invalid, invalidPlaces, type Violation } from '../runtime/errors.ts';
import type { ContentFields } from './write-content.ts';

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
