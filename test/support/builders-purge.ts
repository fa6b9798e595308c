import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { localCredentials } from '../../infra/local/local-credentials.ts';
import type { ContentStore } from '../../shared/assets/content-store.ts';
import type { Table } from '../../shared/table/table.ts';
import type { Stores } from './builders-store.ts';
import type { Fault } from './dynamodb-proxy.ts';
import { scan } from './lifecycle-inconsistencies.ts';

/** Returns the keys of the items that contain one of these identifiers. */
export async function itemsNaming(table: Table, ids: string[]): Promise<string[]> {
  const items = await scan(table);
  return items
    .filter((item) => ids.some((id) => JSON.stringify(item).includes(id)))
    .map((item) => `${String(item['pk'])} ${String(item['sk'])}`);
}

/** Returns the keys of all objects in storage. */
export async function contentKeys(content: ContentStore): Promise<string[]> {
  const { origin } = new URL(content.url);
  const client = new S3Client({ endpoint: origin, region: 'local', credentials: localCredentials, forcePathStyle: true });
  const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: 'content' }));
  client.destroy();
  return (Contents ?? []).map(({ Key }) => String(Key));
}

/**
 * Repeats `work` on a table that fails from the first call on, then from the second call on, and so on until `work` succeeds.
 * Calls `check` after each attempt. Tries both cases: the last call before the failure takes effect, or it does not.
 * @returns the number of failures
 */
export async function dieAtEveryCall<T>(
  { proxy }: Stores,
  prepare: () => Promise<T>,
  work: (prepared: T) => Promise<unknown>,
  check: (prepared: T, death: string) => Promise<void>,
): Promise<number> {
  let deaths = 0;
  for (const kind of ['dropped', 'lost-answer'] as const satisfies Fault['kind'][]) {
    for (let after = 0; ; after++) {
      const prepared = await prepare();
      proxy.inject({ kind, share: 1, after });
      const died = await work(prepared).then(
        () => false,
        () => true,
      );
      const met = proxy.faults();
      proxy.inject(undefined);
      await check(prepared, `${kind} after ${after} calls`);
      if (!died && met === 0) break;
      deaths += 1;
    }
  }
  return deaths;
}
