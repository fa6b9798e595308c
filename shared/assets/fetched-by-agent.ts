import { type Fetched, misfits } from 'computation-management-formats/source';
import type { AssetType } from 'computation-management-formats/vocabulary';
import { invalid, invalidPlaces, type Violation } from '../runtime/errors.ts';
import type { ContentFields } from './write-content.ts';

type Given = { [Name in keyof Fetched]?: Fetched[Name] | undefined };

/** What a request leaves out stays. What goes with a source goes when that is removed. */
export function fetchedAfter(given: Given, before?: Fetched): Fetched {
  const source = given.source === undefined ? (before?.source ?? null) : given.source;
  const kept = source === null ? undefined : before;
  const { kbs = kept?.kbs ?? null, decompress = kept?.decompress ?? null } = given;
  const { algo_type = kept?.algo_type ?? null, algo_args = kept?.algo_args ?? null } = given;
  return { source, kbs, decompress, algo_type, algo_args };
}

/** @throws ServiceError `invalid_request` that names each field that does not fit the asset */
export function refuseMisfits(
  asset: { asset_type: AssetType } & Fetched,
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

export const withoutContent: Omit<ContentFields, 'checksum'> = {
  state: 'ready',
  size: null,
  content_key: null,
  content_checksum: null,
  upload_key: null,
};
