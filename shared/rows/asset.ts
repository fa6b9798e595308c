import { arrayOf, described, namedObject, orNull, shownDescription, shownText } from 'computation-management-formats/fields';
import { idOfAsset } from 'computation-management-formats/identifiers';
import { fetchedOrNone } from 'computation-management-formats/source';
import { createdAt, timestamp, updatedAt } from 'computation-management-formats/timestamps';
import { assetTypes, shownAssetTypes } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { assetKeyOfRow } from './asset-key.ts';
import { ServiceError } from '../runtime/errors.ts';

export const contentAccess = described(
  v.picklist(['creator', 'domain']),
  'Who can read the content. `creator`: only the creator of the asset. `domain`: every member who may view.',
);

/** The values of `use`, which says whether a run with the asset needs its creator's approval. */
export const assetUses = ['open', 'approval'] as const;
export type AssetUse = (typeof assetUses)[number];
export const assetUse = described(
  v.picklist(assetUses),
  'Whether a run that uses the asset needs approval. `open`: no. `approval`: its creator must approve the manifest of the run.',
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

export const assetType = described(v.picklist(assetTypes), 'Whether the asset is an algorithm or a dataset.');

export const shownAssetType = described(
  v.picklist(shownAssetTypes),
  'Whether the asset is an algorithm, a dataset, or the result of a run under review. You can send the first two.',
);

const rowEntries = {
  id: idOfAsset,
  file_name: shownText(255, 'The name of the file.'),
  description: shownDescription,
  asset_type: shownAssetType,
  mime_type: shownText(255, 'The media type of the content. Empty if it is not known.'),
  state: described(
    v.picklist(['pending', 'ready']),
    '`pending` until the content has arrived and the service has hashed it. An asset with `source` is `ready`.',
  ),
  size: orNull(
    v.pipe(v.number(), v.integer()),
    'The size of the content in bytes. 0 while the asset is pending. null if the agent fetches it from `source`.',
  ),
  checksum: orNull(shownText(64), 'The SHA3-256 in hex. The agent verifies it. null until it is known.'),
  content_access: contentAccess,
  use: assetUse,
  ...fetchedOrNone,
  created_by: shownText(255, 'The creator of the asset, the `sub` of a user.'),
  created_at: createdAt,
  updated_at: updatedAt,
};

/** Schema of an asset in a list, without content and key. */
export const assetRow = namedObject('AssetRow', 'An asset in a list, without its content and key.', rowEntries);

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
  /** The key that decrypts the content of an asset, without the secret (`assetKeys.key`). Null: none. */
  key: v.nullable(assetKeyOfRow),
  /** The last key of an asset whose key was removed, by which the number of the next one is known. */
  former_key: v.optional(v.nullable(v.pick(assetKeyOfRow, ['number', 'fingerprint']))),
  /** The time until which no run starts with the asset, because it is being deleted (mark-for-deletion.ts). Null otherwise. */
  closing_until: v.nullable(v.string()),
  version: v.number(),
  /** The run whose result the asset is, and the users who may read it beside its creator. Undefined for other assets. */
  result_of: v.optional(
    v.object({ computation_id: v.string(), run_id: v.string(), size: v.number(), readers: v.array(v.string()) }),
  ),
  /**
   * The times of the last changes of the file name and of what a manifest has of an asset, by field. Without a field that has not changed
   * since the asset was created.
   */
  changed_at: v.optional(v.record(v.string(), v.string())),
  /** The user who last changed the file name: its creator or an administrator. */
  renamed_by: v.optional(v.string()),
});
export type StoredAsset = v.InferOutput<typeof storedAsset>;

/**
 * Returns whether the user may not read the content of the asset, because another user created the asset and keeps its content
 * to themselves. A result is read by its reviewers and, after its release, by its consumers.
 */
export function isContentWithheld({ created_by, content_access, result_of }: StoredAsset, user: string): boolean {
  return user !== created_by && content_access !== 'domain' && result_of?.readers.includes(user) !== true; // defence
}

const contentRead = namedObject('ContentRead', 'A read of the content by another user than the creator of the asset.', {
  user: shownText(255, 'The user who read the content.'),
  read_at: described(timestamp, 'The time of the read.'),
});
export type ContentRead = v.InferOutput<typeof contentRead>;

/**
 * The longest presigned URL for content of an asset, in characters. Its query contains the file name and the session token of
 * the function that made it.
 */
const longestLink = 16 * 1024;

const link = {
  url: v.pipe(v.string(), v.url(), v.description('The URL of the presigned request.'), v.metadata({ maxLength: longestLink })),
  expires_at: described(timestamp, 'The time until which storage accepts the request.'),
};

export const assetDownload = namedObject('AssetDownload', 'A presigned request for content.', link);

const assetUpload = namedObject(
  'AssetUpload',
  'A presigned request with which the creator uploads the content of a pending asset. Send the headers in `headers`. You can ' +
    'also send any `content-type`. The content is the bytes as you send them, whatever `content-encoding` says.',
  {
    method: described(v.literal('PUT'), 'The method of the presigned request.'),
    headers: described(v.record(shownText(64), shownText(255)), 'The headers to send, by name.'),
    ...link,
    problem: v.optional(
      shownText(500, 'Why the content that was uploaded last could not be taken. Upload it again. Only in answers of `GET`.'),
    ),
  },
);

export const assetSchema = namedObject(
  'Asset',
  'An algorithm or a dataset. The content is in `asset` or behind `download`, if you may read it.',
  {
    ...assetRow.entries,
    user_key: shownText(16 * 1024, "The provider's public key as DER SubjectPublicKeyInfo, base64. Empty if there is none."),
    asset: v.optional(shownText(longestInlineText, 'The content in base64, up to 4 MiB decoded.')),
    download: v.optional(assetDownload),
    upload: v.optional(assetUpload),
    content_withheld: v.optional(
      described(
        v.literal(true),
        '`true` if the content is withheld because only the creator of the asset may read it. Absent otherwise.',
      ),
    ),
    content_reads: v.optional(
      arrayOf(
        contentRead,
        100,
        'The latest 100 reads of the content by others, newest first. Returned to the creator of the asset.',
      ),
    ),
  },
);
export type Asset = v.InferOutput<typeof assetSchema>;
