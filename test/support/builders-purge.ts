import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { localCredentials } from '../../infra/local/local-credentials.ts';
import type { ContentStore } from '../../shared/assets/content-store.ts';
import type { Table } from '../../shared/table/table.ts';
import type { Stores } from './builders-store.ts';
import type { Fault } from './dynamodb-proxy.ts';
import { scan } from './lifecycle-inconsistencies.ts';

/** The items that name one of these identifiers, by their keys. */
export async function itemsNaming(table: Table, ids: string[]): Promise<string[]> {
  const items = await scan(table);
  return items
    .filter((item) => ids.some((id) => JSON.stringify(item).includes(id)))
    .map((item) => `${String(item['pk'])} ${String(item['sk'])}`);
}

/** The names of everything in storage. */
export async function contentKeys(content: ContentStore): Promise<string[]> {
  const { origin } = new URL(content.url);
  const client = new S3Client({ endpoint: origin, region: 'local', credentials: localCredentials, forcePathStyle: true });
  const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: 'content' }));
  client.destroy();
  return (Contents ?? []).map(({ Key }) => String(Key));
}

/**
 * Runs `work` again and again, each time through a table that fails from one call later on, until it comes to its end. What
 * `work` has left behind in between is `check`ed. The last call before its death is carried out or is not, both are tried.
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
