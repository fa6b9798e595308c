import * as v from 'valibot';
import { assetTypes } from '../asset-type.ts';
import { ServiceError } from '../errors.ts';
import { strictObject } from '../strict-object.ts';
import { identifier } from '../identifier-schemas.ts';
import { description, shownDescription } from '../description.ts';
import { returnedField } from '../returned-field.ts';
import { shownText, text } from '../text.ts';
import { timestamp } from '../timestamp.ts';

/** Who gets the content: only the asset's creator, or everyone in the domain who may view. */
const contentAccess = v.pipe(
  v.picklist(['creator', 'domain']),
  v.description('Who can read the content. `creator`: only the creator of the asset. `domain`: every member who may view.'),
);

/** Whether a run that uses the asset needs the approval of its creator (docs/contract.md, section 9). */
export const assetUses = ['open', 'approval'] as const;
export type AssetUse = (typeof assetUses)[number];
const use = v.pipe(
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

const longestInlineText = Math.ceil(inlineLimitInBytes / 3) * 4;

/** A plain name, because the agent uses it in a path. */
const fileName = v.pipe(
  text(1, 255),
  v.regex(
    /^(?!\.{1,2}$)[^/\\\u0000-\u001f\u007f-\u009f]+$/,
    'Expected a file name without slashes or control characters. The names . and .. are not allowed.',
  ),
  v.examples(['titanic.csv']),
);

const checksum = v.pipe(
  v.string(),
  v.regex(/^[0-9a-fA-F]{64}$/, 'Expected a SHA3-256 in hex, 64 digits.'),
  v.toLowerCase(),
  v.description('The SHA3-256 of the content in hex. The agent verifies it.'),
  v.metadata({ minLength: 64, maxLength: 64 }),
);

const userKey = v.pipe(
  text(0, 16 * 1024),
  v.description(
    "The provider's RSA, ECDSA or Ed25519 public key: an OpenSSH line as it is, or the base64 of an OpenSSH, PEM or DER file. Empty for none.",
  ),
);

const inputEntries = {
  file_name: fileName,
  description: v.optional(description, ''),
  asset_type: v.picklist(assetTypes),
  mime_type: v.optional(
    v.pipe(
      text(0, 255),
      v.regex(
        /^(?:[\w.+-]+\/[\w.+-]+(?:\s*;\s*[\w.+-]+=(?:[\w.+-]+|"[^"\\\r\n]*"))*)?$/,
        'Expected a media type such as text/csv.',
      ),
      v.examples(['text/csv']),
    ),
    '',
  ),
  asset: v.optional(
    v.pipe(
      v.string('Expected base64 text.'),
      v.description(
        'The content in base64, up to 4 MiB decoded. If omitted, upload the content with the presigned request in the response.',
      ),
      v.metadata({ contentEncoding: 'base64', maxLength: longestInlineText }),
    ),
  ),
  user_key: v.optional(userKey, ''),
  content_access: v.optional(contentAccess, 'creator'),
  use: v.optional(use, 'open'),
  checksum: v.optional(
    v.pipe(
      checksum,
      v.description(
        'The SHA3-256 in hex. If you send `asset`, it must be the hash of that content. If you omit `asset`, it is the hash of the real file, and you may upload a sample in its place.',
      ),
    ),
  ),
};

/** The body of endpoint 15. */
export const assetInput = v.pipe(
  strictObject({ asset: v.pipe(strictObject(inputEntries), v.title('AssetInputFields')) }),
  v.title('AssetInput'),
);
export type AssetInput = v.InferOutput<typeof assetInput>['asset'];

/**
 * The body of endpoint 18: a full replacement. Without `asset`, `checksum`, `user_key`, `content_access` or `use`, these stay the
 * same, because only the creator may change them. New content gets a new checksum, unless the creator gave that of a real file.
 */
export const assetReplacement = v.pipe(
  strictObject({
    asset: v.pipe(
      strictObject({
        ...inputEntries,
        user_key: v.optional(userKey),
        content_access: v.optional(contentAccess),
        use: v.optional(use),
        checksum: v.optional(v.nullable(checksum)),
        id: returnedField,
        state: returnedField,
        size: returnedField,
        created_by: returnedField,
        created_at: returnedField,
        updated_at: returnedField,
        upload: returnedField,
        download: returnedField,
        content_withheld: returnedField,
        content_reads: returnedField,
      }),
      v.title('AssetReplacementFields'),
    ),
  }),
  v.title('AssetReplacement'),
);
export type AssetReplacement = v.InferOutput<typeof assetReplacement>['asset'];

const rowEntries = {
  id: identifier,
  file_name: shownText(255),
  description: shownDescription,
  asset_type: v.picklist(assetTypes),
  mime_type: shownText(255),
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
  use,
  created_by: shownText(255),
  created_at: timestamp,
  updated_at: timestamp,
};

/** An asset in a list. */
export const assetRow = v.pipe(v.object(rowEntries), v.title('AssetRow'));

/** A read of the content by someone else than the creator. */
const contentRead = v.pipe(v.object({ user: shownText(255), read_at: timestamp }), v.title('ContentRead'));
export type ContentRead = v.InferOutput<typeof contentRead>;

/** The query of a link contains the file name and the session token of the function that made it. */
const longestLink = 16 * 1024;

const link = { url: v.pipe(v.string(), v.url(), v.metadata({ maxLength: longestLink })), expires_at: timestamp };

const assetDownload = v.pipe(
  v.object(link),
  v.title('AssetDownload'),
  v.description('A presigned request for content of more than 4 MiB.'),
);

const assetUpload = v.pipe(
  v.object({ method: v.literal('PUT'), headers: v.record(shownText(64), shownText(255)), ...link }),
  v.title('AssetUpload'),
  v.description(
    'A presigned request with which the creator uploads the content of a pending asset. Send the headers in `headers`. You can ' +
      'also send any `content-type`.',
  ),
);

/** An asset with its key, and for those who may have it its content or a link to it. */
export const assetSchema = v.pipe(
  v.object({
    ...rowEntries,
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
);
export type Asset = v.InferOutput<typeof assetSchema>;

export const storedAsset = v.object({
  ...rowEntries,
  /** Earlier versions stored neither: such content is its creator's, and its use is open. */
  content_access: v.optional(contentAccess, 'creator'),
  use: v.optional(use, 'open'),
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
