import { environment } from '../environment.ts';
import type { Table } from '../table/table.ts';
import { DomainLimit } from './domain-limit.ts';
import { takeTokens, type Bucket } from './token-bucket.ts';

/** One for each function's environment. It keeps the leases between requests. */
let limit: DomainLimit<Table> | undefined;

/**
 * Admits a change of a domain within the stage's limit.
 * @returns the headers that show the limit; none if the stage has none
 * @throws RateLimitError
 */
export async function admitChange(
  table: Table,
  { path, now }: { path: Record<string, string>; now: string },
): Promise<Record<string, string>> {
  const bucket = bucketOfStage();
  const { domainID } = path;
  if (!bucket || domainID === undefined) return {};
  limit ??= new DomainLimit(bucket, (table, taking) => takeTokens(table, bucket, taking));
  return await limit.admit(table, domainID, Date.parse(now));
}

function bucketOfStage(): Bucket | undefined {
  const { DOMAIN_CHANGES_PER_SECOND: perSecond, DOMAIN_BURST: burst } = environment();
  if (perSecond === undefined && burst === undefined) return undefined;
  if (perSecond === undefined || burst === undefined) {
    throw new Error('Set both DOMAIN_CHANGES_PER_SECOND and DOMAIN_BURST, or neither.');
  }
  return { perSecond, burst };
}
