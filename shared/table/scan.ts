import { ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import type { AnyKey } from './keys.ts';
import type { ItemOfSomeDomain } from './keys-of-domain.ts';
import { deadlineOf, until, type Item, type Table } from './table.ts';

export interface ScanOptions {
  /** The `next` of the previous page. Default: start with the first item. */
  after?: AnyKey | undefined;
  /** The number of items to read, including items that the filter excludes. */
  limit: number;
  filter: Required<Pick<ScanCommandInput, 'FilterExpression' | 'ExpressionAttributeValues'>>;
  /** As in QueryOptions. */
  attributes: string[];
}

interface ScannedPage<Scanned> {
  items: Scanned[];
  /** Where the next page starts. Undefined after the last item. */
  next: AnyKey | undefined;
}

/**
 * Reads a page of the table's items, in no defined order. Items that are written behind the current position are not found.
 * Strongly consistent, up to 1 MB in one round trip. Costs 1 read unit per 4 KB read, including items that the filter excludes, so
 * about 262,000 per GB. No request may use it.
 */
export async function scanPage(table: Table, options: ScanOptions): Promise<ScannedPage<Item>> {
  const { after, limit, filter, attributes } = options;
  return await scan(table, {
    ExclusiveStartKey: after,
    Limit: limit,
    ProjectionExpression: attributes.join(', '),
    ...filter,
  });
}

/** A part of the table that a scan reads by itself. */
export interface Segment {
  /** From 0. */
  number: number;
  of: number;
}

/**
 * Reads a page of the names of items in one segment of the table: their keys, and the domain that some have as an
 * attribute. Otherwise as scanPage. Only the removal of a domain may use it.
 */
export async function scanNames(table: Table, { number, of }: Segment, after?: AnyKey): Promise<ScannedPage<ItemOfSomeDomain>> {
  const { items, next } = await scan(table, {
    Segment: number,
    TotalSegments: of,
    ExclusiveStartKey: after,
    ProjectionExpression: '#pk, #sk, #domain',
    ExpressionAttributeNames: { '#pk': 'pk', '#sk': 'sk', '#domain': 'domain' },
  });
  const names = items.map(({ pk, sk, domain }) => ({
    pk: String(pk),
    sk: String(sk),
    ...(typeof domain === 'string' ? { domain } : {}),
  }));
  return { items: names, next };
}

async function scan(table: Table, input: Omit<ScanCommandInput, 'TableName'>): Promise<ScannedPage<Item>> {
  const command = new ScanCommand({ TableName: table.name, ConsistentRead: true, ...input });
  const { Items: items = [], LastEvaluatedKey: next } = await table.document.send(command, until(deadlineOf(table)));
  return { items, next: next as AnyKey | undefined };
}
