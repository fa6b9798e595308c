import { shownDescription, shownText } from 'computation-management-formats/fields';
import { idOfAsset } from 'computation-management-formats/identifiers';
import { createdAt, updatedAt } from 'computation-management-formats/timestamps';
import { assetTypes } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { ServiceError } from '../runtime/errors.ts';

/** Who gets the content: only the asset's creator, or everyone in the domain who may view. */
export const contentAccess = v.pipe(
  v.picklist(['creator', 'domain']),
  v.description('Who can read the content. `creator`: only the creator of the asset. `domain`: every member who may view.'),
);

/** Whether a run that uses the asset needs the approval of its creator (docs/contract.md, section 9). */
export const assetUses = ['open', 'approval'] as const;
export type AssetUse = (typeof assetUses)[number];
export const assetUse = v.pipe(
  v.picklist(assetUses),
  v.description(
    'Whether a run that uses the asset needs approval. `open`: no. `approval`: its creator must approve the manifest of the run.',
  ),
);

/** Content up to this size is sent and returned inline (docs/contract.md, section 7). */
export const inlineLimitInBytes = 4 * 1024 * 1024;

/** The refusal of content that is too large to be sent inline. @param size in bytes */
export function contentTooLarge(size: number): ServiceError {
  const sentence = `The content has ${size} bytes, inline at most ${inlineLimitInBytes}. Create an asset without \`asset\`: its presigned \`upload\` takes more.`;
  return new ServiceError('too_large', sentence);
}

export const longestInlineText = Math.ceil(inlineLimitInBytes / 3) * 4;

export const assetType = v.pipe(v.picklist(assetTypes), v.description('Whether the asset is an algorithm or a dataset.'));

const rowEntries = {
  id: idOfAsset,
  file_name: v.pipe(shownText(255), v.description('The name of the file.')),
  description: shownDescription,
  asset_type: assetType,
  mime_type: v.pipe(shownText(255), v.description('The media type of the content. Empty if it is not known.')),
  state: v.pipe(
    v.picklist(['pending', 'ready']),
    v.description('`pending` until the content has arrived and the service has hashed it.'),
  ),
  size: v.pipe(v.number(), v.integer(), v.description('The size of the content in bytes. 0 while the asset is pending.')),
  checksum: v.pipe(
    v.nullable(shownText(64)),
    v.description('The SHA3-256 in hex. The agent verifies it. null until it is known.'),
  ),
  content_access: contentAccess,
  use: assetUse,
  created_by: v.pipe(shownText(255), v.description('The creator of the asset, the `sub` of a user.')),
  created_at: createdAt,
  updated_at: updatedAt,
};

/** An asset in a list. */
export const assetRow = v.pipe(
  v.object(rowEntries),
  v.title('AssetRow'),
  v.description('An asset in a list, without its content and key.'),
);

export const storedAsset = v.object({
  ...rowEntries,
  user_key: v.string(),
  /** The content's key in storage; null while it is pending. */
  content_key: v.nullable(v.string()),
  /** SHA3-256 of the stored content, hex. Differs from `checksum` if the content is a sample. */
  content_checksum: v.nullable(v.string()),
  /** The storage key of the expected upload; null if none is expected. */
  upload_key: v.nullable(v.string()),
  /** Until when no run starts with the asset, because it is about to be deleted (mark-for-deletion.ts). */
  closing_until: v.optional(v.nullable(v.string())),
  /** Incremented by every change of the asset or its links. */
  version: v.number(),
});
export type StoredAsset = v.InferOutput<typeof storedAsset>;

/** Returns whether a user who may view the asset does not get its content. */
export function isContentWithheld({ created_by, content_access }: StoredAsset, user: string): boolean {
  return user !== created_by && content_access !== 'domain';
}
