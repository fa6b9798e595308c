import { paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { contentPrefixesOf, deleteContent, type ContentStore } from '../assets/content-store.ts';
import { inParallel } from '../runtime/in-parallel.ts';

export interface ContentCounts {
  objects: number;
  bytes: number;
}

/** Counts the content of a domain's assets. One request for 1,000 objects. */
export async function countContent(store: ContentStore, domain: string): Promise<ContentCounts> {
  return await onEachPage(store, domain, () => Promise.resolve());
}

/**
 * Deletes the content of a domain's assets. A bucket with versions keeps them as its lifecycle says. May be interrupted and repeated.
 * @returns what was deleted
 */
export async function removeContent(store: ContentStore, domain: string): Promise<ContentCounts> {
  return await onEachPage(store, domain, (keys) => inParallel(keys, (key) => deleteContent(store, key)));
}

async function onEachPage(
  { client, bucket: Bucket }: ContentStore,
  domain: string,
  work: (keys: string[]) => Promise<void>,
): Promise<ContentCounts> {
  const counts = { objects: 0, bytes: 0 };
  for (const Prefix of contentPrefixesOf(domain)) {
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix })) {
      await work(Contents.flatMap(({ Key }) => Key ?? []));
      counts.objects += Contents.length;
      counts.bytes += Contents.reduce((sum, { Size = 0 }) => sum + Size, 0);
    }
  }
  return counts;
}
