import * as v from 'valibot';
import { strictObject } from '../strict-object.ts';
import { identifier } from '../identifier-schemas.ts';
import { text } from '../text.ts';
import { timestamp } from '../timestamp.ts';

export const assetTypes = ['algorithm', 'dataset'] as const;
export type AssetType = (typeof assetTypes)[number];

/** The largest content that is sent and returned inline (docs/contract.md, section 7). */
export const inlineLimitInBytes = 4 * 1024 * 1024;

/** A plain name without `/` or control characters, and not `.` or `..`, because the agent uses it in a path. */
const fileName = v.pipe(
  text(1, 255),
  v.regex(
    /^(?!\.{1,2}$)[^/\\\u0000-\u001f\u007f-\u009f]+$/,
    'Expected a plain file name: no slash, no control characters, not . or ..',
  ),
  v.examples(['titanic.csv']),
);

const checksum = v.pipe(
  v.string(),
  v.regex(/^[0-9a-fA-F]{64}$/, 'Expected a SHA3-256 in hex: 64 digits.'),
  v.toLowerCase(),
  v.description('SHA3-256 of the content, hex: what the agent verifies.'),
);

const inputEntries = {
  file_name: fileName,
  description: v.optional(v.pipe(text(0, 4000), v.description('At most 4,000 characters.')), ''),
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
      v.description('Base64 of the content, at most 4 MiB decoded. Left out: upload it with the answered presigned request.'),
      v.metadata({ contentEncoding: 'base64' }),
    ),
  ),
  user_key: v.optional(
    v.pipe(
      text(0, 16 * 1024),
      v.description("Base64 of the provider's public key: OpenSSH, PEM or DER; RSA, ECDSA or Ed25519. Empty: none."),
    ),
    '',
  ),
  checksum: v.optional(
    v.pipe(
      checksum,
      v.description('SHA3-256, hex. With content: it must match. Without: the hash of the real file, whose sample is uploaded.'),
    ),
  ),
};

const returned = v.optional(v.pipe(v.unknown(), v.description('Ignored: written by the service.')));

/** Body of endpoint 15. */
export const assetInput = strictObject({ asset: strictObject(inputEntries) });
export type AssetInput = v.InferOutput<typeof assetInput>['asset'];

/** Body of endpoint 18: a full replacement. Without `asset`, the content stays the same. */
export const assetReplacement = strictObject({
  asset: strictObject({
    ...inputEntries,
    checksum: v.optional(v.nullable(checksum)),
    id: returned,
    state: returned,
    size: returned,
    created_by: returned,
    created_at: returned,
    updated_at: returned,
    upload: returned,
    download: returned,
  }),
});

/** An asset in a listing. */
export const assetRow = v.object({
  id: identifier,
  file_name: v.string(),
  description: v.string(),
  asset_type: v.picklist(assetTypes),
  mime_type: v.string(),
  state: v.pipe(v.picklist(['pending', 'ready']), v.description('`pending` until the content has arrived.')),
  size: v.pipe(v.number(), v.integer(), v.description('Bytes of the content; 0 while it is pending.')),
  checksum: v.pipe(v.nullable(v.string()), v.description('SHA3-256, hex: what the agent verifies; null while it is not known.')),
  created_by: v.string(),
  created_at: timestamp,
  updated_at: timestamp,
});

const link = { url: v.pipe(v.string(), v.url()), expires_at: timestamp };

/** An asset with all its fields. */
export const assetSchema = v.object({
  ...assetRow.entries,
  user_key: v.pipe(
    v.string(),
    v.description("Base64 of the provider's public key as DER SubjectPublicKeyInfo; empty when none."),
  ),
  asset: v.optional(v.pipe(v.string(), v.description('Base64 of the content, up to 4 MiB decoded.'))),
  download: v.optional(v.pipe(v.object(link), v.description('Where the content is when it is larger.'))),
  upload: v.optional(
    v.pipe(
      v.object({ method: v.literal('PUT'), headers: v.record(v.string(), v.string()), ...link }),
      v.description('How to send the content of a pending asset, once: this method to this URL with these headers.'),
    ),
  ),
});
export type Asset = v.InferOutput<typeof assetSchema>;

export const storedAsset = v.object({
  ...assetRow.entries,
  user_key: v.string(),
  /** The content's key in storage; null while it is pending. */
  content_key: v.nullable(v.string()),
  /** SHA3-256 of the stored content, hex. Differs from `checksum` if the content is a sample. */
  content_checksum: v.nullable(v.string()),
  /** The storage key of the expected upload; null if none is expected. */
  upload_key: v.nullable(v.string()),
  /** Incremented by every change of the asset or its links. */
  version: v.number(),
});
export type StoredAsset = v.InferOutput<typeof storedAsset>;
