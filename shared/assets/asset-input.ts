import {
  described,
  description,
  fileName,
  mimeType,
  namedInput,
  orNull,
  returnedField,
  text,
} from 'computation-management-formats/fields';
import { fetchedOrNone } from 'computation-management-formats/source';
import * as v from 'valibot';
import { assetType, shownAssetType, assetUse, contentAccess, longestInlineText } from '../rows/asset.ts';

const checksum = v.pipe(
  v.string(),
  v.regex(/^[0-9a-fA-F]{64}$/, 'Expected a SHA3-256 in hex, 64 digits.'),
  v.toLowerCase(),
  v.description('The SHA3-256 of the content in hex. The agent verifies it.'),
  v.metadata({ minLength: 64, maxLength: 64 }),
);

const userKey = described(
  text(0, 16 * 1024),
  "The provider's RSA, ECDSA or Ed25519 public key: an OpenSSH line as it is, or the base64 of an OpenSSH, PEM or DER file. Empty for none.",
);

const content = v.pipe(
  v.string('Expected base64 text.'),
  v.metadata({ contentEncoding: 'base64', maxLength: longestInlineText }),
);

const inputEntries = {
  file_name: fileName,
  description: v.optional(description, ''),
  asset_type: assetType,
  mime_type: v.optional(mimeType, ''),
  asset: v.optional(
    described(
      content,
      'The content in base64, up to 4 MiB decoded. If omitted, upload the content with the presigned request in the response.',
    ),
  ),
  user_key: v.optional(userKey, ''),
  content_access: v.optional(contentAccess, 'creator'),
  use: v.optional(assetUse, 'open'),
  ...v.partial(v.object(fetchedOrNone)).entries,
  checksum: v.optional(
    described(
      checksum,
      'The SHA3-256 in hex. If you send `asset`, it must be the hash of that content. If you omit `asset`, it is the hash of the real file, and you may upload a sample in its place. Required with `source`.',
    ),
  ),
};

export const assetInput = namedInput('AssetInput', 'The request to create an asset.', {
  asset: namedInput('AssetInputFields', 'The fields of a new asset, and its content.', inputEntries),
});
export type AssetInput = v.InferOutput<typeof assetInput>['asset'];

/**
 * The request body of endpoint 18, a full replacement of an asset. `asset`, `checksum`, `user_key`, `content_access`, `use` and
 * `source` stay the same if they are omitted, because only the creator may change them. New content gets a new checksum, unless
 * the creator gave that of a real file.
 */
export const assetReplacement = namedInput('AssetReplacement', 'The request to replace the fields of an asset.', {
  asset: namedInput(
    'AssetReplacementFields',
    'All fields of an asset. If `description` or `mime_type` is omitted, it becomes empty. Other optional fields then stay the same.',
    {
      ...inputEntries,
      asset_type: shownAssetType,
      asset: v.optional(
        described(
          content,
          'New content in base64, up to 4 MiB decoded. If omitted, the content stays as it is. While the asset is pending, the ' +
            'response to its creator then has an `upload`.',
        ),
      ),
      user_key: v.optional(userKey),
      content_access: v.optional(contentAccess),
      use: v.optional(assetUse),
      checksum: v.optional(
        orNull(
          checksum,
          'The SHA3-256 in hex. If you send `asset`, it must be the hash of that content. If you omit `asset`, it is the hash of ' +
            'the real file, and the content may be a sample. If omitted or null, it stays the same. Exception: for new content, the ' +
            'service computes it, unless it is the hash of a real file.',
        ),
      ),
      ...v.entriesFromList(['id', 'state', 'size', 'created_by', 'created_at', 'updated_at'], returnedField),
      ...v.entriesFromList(['upload', 'download', 'content_withheld', 'content_reads'], returnedField),
    },
  ),
});
export type AssetReplacement = v.InferOutput<typeof assetReplacement>['asset'];
