import { DeleteObjectsCommand, paginateListObjectsV2, type S3Client } from '@aws-sdk/client-s3';
import { contentPrefixesOf } from '../assets/content-store.ts';

export interface ContentCounts {
  objects: number;
  bytes: number;
}

/** Counts the content of a domain's assets. One request for 1,000 objects. */
export async function countContent(s3: S3Client, bucket: string, domain: string): Promise<ContentCounts> {
  return await onEachPage(s3, bucket, domain, () => Promise.resolve());
}

/**
 * Deletes the content of a domain's assets. A bucket with versions keeps them as its lifecycle says. May be interrupted and repeated.
 * @returns what was deleted
 */
export async function removeContent(s3: S3Client, bucket: string, domain: string): Promise<ContentCounts> {
  return await onEachPage(s3, bucket, domain, async (keys) => {
    const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true };
    const { Errors = [] } = await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete }));
    const [first] = Errors;
    if (first) throw new Error(`${Errors.length} objects could not be deleted, such as ${first.Key}: ${first.Message}`);
  });
}

async function onEachPage(
  s3: S3Client,
  Bucket: string,
  domain: string,
  work: (keys: string[]) => Promise<void>,
): Promise<ContentCounts> {
  const counts = { objects: 0, bytes: 0 };
  for (const Prefix of contentPrefixesOf(domain)) {
    for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket, Prefix })) {
      const keys = Contents.flatMap(({ Key }) => Key ?? []);
      if (keys.length > 0) await work(keys);
      counts.objects += keys.length;
      counts.bytes += Contents.reduce((sum, { Size = 0 }) => sum + Size, 0);
    }
  }
  return counts;
}
