import { type KnownAsset, sizeText } from 'computation-management-client';
import type { Terminal } from '../terminal.ts';
import { details } from './details.ts';
import { relativeTime } from './relative-time.ts';

/** Formats an asset without its content. */
export function assetDetails(asset: KnownAsset['asset'], { now }: Pick<Terminal, 'now'>): string {
  const ago = (timestamp: string) => relativeTime(timestamp, now());
  return details([
    ['File', asset.file_name],
    ['Identifier', asset.id],
    ['Description', asset.description],
    ['Type', [asset.asset_type, asset.mime_type].filter((text) => text !== '').join(', ')],
    ['State', asset.state],
    ['Size', sizeText(asset.size)],
    ['SHA3-256', asset.checksum],
    ['Use', asset.use],
    [
      'Content',
      asset.content_access === 'domain' ? 'every member of the domain may download it' : `only ${asset.created_by} gets it`,
    ],
    ['Creator', asset.created_by],
    ['Created', ago(asset.created_at)],
    ['Changed', ago(asset.updated_at)],
    ['Read by', asset.content_reads?.map(({ user, read_at }) => `${user}, ${ago(read_at)}`)],
  ]);
}
