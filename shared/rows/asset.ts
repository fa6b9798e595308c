import { shownDescription, shownText } from 'computation-management-formats/fields';
import { idOfAsset } from 'computation-management-formats/identifiers';
import { fetchedOrNone } from 'computation-management-formats/source';
import { createdAt, timestamp, updatedAt } from 'computation-management-formats/timestamps';
import { assetTypes } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { ServiceError } from '../runtime/errors.ts';

export const contentAccess = v.pipe(
  v.picklist(['creator', 'domain']),
  v.description('Who can read the content. `creator`: only the creator of the asset. `domain`: every member who may view.'),
);

/** The values of `use`, which says whether a run with the asset needs its creator's approval. */
export const assetUses = ['open', 'approval'] as const;
export type AssetUse = (typeof assetUses)[number];
export const assetUse = v.pipe(
  v.picklist(assetUses),
  v.description(
    'Whether a run that uses the asset needs approval. `open`: no. `approval`: its creator must approve the manifest of the run.',
  ),
);

/**
 * The largest content, in bytes, that a request or an answer has inline in `asset` (docs/contract.md, section 7). Larger content
 * takes a presigned request.
 */
export const inlineLimitInBytes = 4 * 1024 * 1024;

/** Returns the error for content of an asset that is too large to be inline in a request or an answer. */
export function contentTooLarge(size: number): ServiceError {
  const sentence = `The content has ${size} bytes, inline at most ${inlineLimitInBytes}. Create an asset without \`asset\`: its presigned \`upload\` takes more.`;
  return new ServiceError('too_large', sentence);
}

/** The most characters of an asset's inline content in base64, which encode 4 MiB. */
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
    v.description('`pending` until the content has arrived and the service has hashed it. An asset with `source` is `ready`.'),
  ),
  size: v.pipe(
    v.nullable(v.pipe(v.number(), v.integer())),
    v.description('The size of the content in bytes. 0 while the asset is pending. null if the agent fetches it from `source`.'),
  ),
  checksum: v.pipe(
    v.nullable(shownText(64)),
    v.description('The SHA3-256 in hex. The agent verifies it. null until it is known.'),
  ),
  content_access: contentAccess,
  use: assetUse,
  ...fetchedOrNone,
  created_by: v.pipe(shownText(255), v.description('The creator of the asset, the `sub` of a user.')),
  created_at: createdAt,
  updated_at: updatedAt,
};

/** Schema of an asset in a list, without content and key. */
export const assetRow = v.pipe(
  v.object(rowEntries),
  v.title('AssetRow'),
  v.description('An asset in a list, without its content and key.'),
);

/** Schema of the row of an asset, as it is stored: the fields of a list entry, its key, and where its content is. */
export const storedAsset = v.object({
  ...rowEntries,
  user_key: v.string(),
  /** The key in storage of the content of an asset. Null while the content has not arrived. */
  content_key: v.nullable(v.string()),
  /**
   * The SHA3-256 of the stored content of an asset. It differs from `checksum` if `checksum` was declared for a real file that
   * is not stored.
   */
  content_checksum: v.nullable(v.string()),
  /** The key in storage at which the upload of an asset's content is expected. Null if no upload is expected. */
  upload_key: v.nullable(v.string()),
  /**
   * The key in storage of an asset's content that was uploaded but that storage could not give back. The service tries again to
   * read it, and expects another upload meanwhile.
   */
  unread_key: v.optional(v.nullable(v.string())),
  /**
   * The text that tells the creator of an asset why the last upload of content could not be taken. Kept until the creator gets a
   * new link.
   */
  upload_problem: v.optional(v.nullable(v.string())),
  /** The time until which no run starts with the asset, because it is being deleted (mark-for-deletion.ts). Null otherwise. */
  closing_until: v.nullable(v.string()),
  version: v.number(),
  /**
   * The times of the last changes of the file name and of what a manifest has of an asset, by field. Without a field that has not changed
   * since the asset was created.
   */
  changed_at: v.optional(v.record(v.string(), v.string())),
});
export type StoredAsset = v.InferOutput<typeof storedAsset>;

/**
 * Returns whether the user may not read the content of the asset, because another user created the asset and keeps its content
 * to themselves.
 */
export function isContentWithheld({ created_by, content_access }: StoredAsset, user: string): boolean {
  return user !== created_by && content_access !== 'domain';
}

const contentRead = v.pipe(
  v.object({
    user: v.pipe(shownText(255), v.description('The user who read the content.')),
    read_at: v.pipe(timestamp, v.description('The time of the read.')),
  }),
  v.title('ContentRead'),
  v.description('A read of the content by another user than the creator of the asset.'),
);
export type ContentRead = v.InferOutput<typeof contentRead>;

/**
 * The longest presigned URL for content of an asset, in characters. Its query contains the file name and the session token of
 * the function that made it.
 */
const longestLink = 16 * 1024;

const link = {
  url: v.pipe(v.string(), v.url(), v.description('The URL of the presigned request.'), v.metadata({ maxLength: longestLink })),
  expires_at: v.pipe(timestamp, v.description('The time until which storage accepts the request.')),
};

export const assetDownload = v.pipe(v.object(link), v.title('AssetDownload'), v.description('A presigned request for content.'));

const assetUpload = v.pipe(
  v.object({
    method: v.pipe(v.literal('PUT'), v.description('The method of the presigned request.')),
    headers: v.pipe(v.record(shownText(64), shownText(255)), v.description('The headers to send, by name.')),
    ...link,
    problem: v.optional(
      v.pipe(
        shownText(500),
        v.description('Why the content that was uploaded last could not be taken. Upload it again. Only in answers of `GET`.'),
      ),
    ),
  }),
  v.title('AssetUpload'),
  v.description(
    'A presigned request with which the creator uploads the content of a pending asset. Send the headers in `headers`. You can ' +
      'also send any `content-type`. The content is the bytes as you send them, whatever `content-encoding` says.',
  ),
);

export const assetSchema = v.pipe(
  v.object({
    ...assetRow.entries,
    user_key: v.pipe(
      shownText(16 * 1024),
      v.description("The provider's public key as DER SubjectPublicKeyInfo, base64. Empty if there is none."),
    ),
    asset: v.optional(v.pipe(shownText(longestInlineText), v.description('The content in base64, up to 4 MiB decoded.'))),
    download: v.optional(assetDownload),
    upload: v.optional(assetUpload),
    content_withheld: v.optional(
      v.pipe(
        v.literal(true),
        v.description('`true` if the content is withheld because only the creator of the asset may read it. Absent otherwise.'),
      ),
    ),
    content_reads: v.optional(
      v.pipe(
        v.array(contentRead),
        v.description('The latest 100 reads of the content by others, newest first. Returned to the creator of the asset.'),
        v.metadata({ maxItems: 100 }),
      ),
    ),
  }),
  v.title('Asset'),
  v.description('An algorithm or a dataset. The content is in `asset` or behind `download`, if you may read it.'),
);
export type Asset = v.InferOutput<typeof assetSchema>;
