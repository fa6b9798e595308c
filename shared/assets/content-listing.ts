import { DeleteObjectsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { ContentStore } from './content-store.ts';

export interface ContentObject {
  key: string;
  writtenAt: Date;
}

/** The objects under a prefix, up to 1,000 at a time. */
export async function* listContent(store: ContentStore, prefix: string): AsyncGenerator<ContentObject[]> {
  let token: string | undefined;
  do {
    const page = await store.client.send(
      new ListObjectsV2Command({ Bucket: store.bucket, Prefix: prefix, ContinuationToken: token }),
    );
    yield (page.Contents ?? []).flatMap(({ Key, LastModified }) =>
      Key && LastModified ? [{ key: Key, writtenAt: LastModified }] : [],
    );
    token = page.NextContinuationToken;
  } while (token);
}

/** Up to 1,000 keys. Keys without an object are no error. @throws Error when storage keeps one */
export async function deleteContent(store: ContentStore, keys: string[]): Promise<void> {
  if (keys.length === 0) return;
  const { Errors } = await store.client.send(
    new DeleteObjectsCommand({ Bucket: store.bucket, Delete: { Objects: keys.map((Key) => ({ Key })), Quiet: true } }),
  );
  if (Errors && Errors.length > 0)
    throw new Error(`Storage kept ${Errors.length} of ${keys.length} objects: ${Errors[0]?.Code}.`);
}
