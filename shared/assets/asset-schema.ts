import { shownText } from 'computation-management-formats/fields';
import { timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { assetRow, longestInlineText } from './asset.ts';

/** A read of the content by someone else than the creator. */
const contentRead = v.pipe(
  v.object({
    user: v.pipe(shownText(255), v.description('The user who read the content.')),
    read_at: v.pipe(timestamp, v.description('The time of the read.')),
  }),
  v.title('ContentRead'),
  v.description('A read of the content by another user than the creator of the asset.'),
);
export type ContentRead = v.InferOutput<typeof contentRead>;

/** The query of a link contains the file name and the session token of the function that made it. */
const longestLink = 16 * 1024;

const link = {
  url: v.pipe(v.string(), v.url(), v.description('The URL of the presigned request.'), v.metadata({ maxLength: longestLink })),
  expires_at: v.pipe(timestamp, v.description('The time until which storage accepts the request.')),
};

const assetDownload = v.pipe(
  v.object(link),
  v.title('AssetDownload'),
  v.description('A presigned request for content of more than 4 MiB.'),
);

const assetUpload = v.pipe(
  v.object({
    method: v.pipe(v.literal('PUT'), v.description('The method of the presigned request.')),
    headers: v.pipe(v.record(shownText(64), shownText(255)), v.description('The headers to send, by name.')),
    ...link,
  }),
  v.title('AssetUpload'),
  v.description(
    'A presigned request with which the creator uploads the content of a pending asset. Send the headers in `headers`. You can ' +
      'also send any `content-type`.',
  ),
);

/** An asset with its key, and for those who may have it its content or a link to it. */
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
