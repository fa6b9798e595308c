import { ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import type { AnyKey } from './keys.ts';
import { deadlineOf, until, type Table, type Item } from './table.ts';

export interface ScanOptions {
  after?: AnyKey | undefined;
  /** Includes items that the filter excludes. */
  limit: number;
  filter: Required<Pick<ScanCommandInput, 'FilterExpression' | 'ExpressionAttributeValues'>>;
  /** As in QueryOptions. */
  attributes: string[];
}

interface ScannedPage {
  items: Item[];
  /** Where the next page starts. Undefined after the last item. */
  next: AnyKey | undefined;
}

/**
 * In no defined order, strongly consistent, up to 1 MB in one round trip. Costs 1 read unit per 4 KB read, so about 262,000 per
 * GB. No request may use it.
 */
export async function scanPage(table: Table, { after, limit, filter, attributes }: ScanOptions): Promise<ScannedPage> {
  const command = new ScanCommand({
    TableName: table.name,
    ConsistentRead: true,
    ExclusiveStartKey: after,
    Limit: limit,
    ProjectionExpression: attributes.join(', '),
    ...filter,
  });
  const { Items: items = [], LastEvaluatedKey: next } = await table.document.send(command, until(deadlineOf(table)));
  return { items, next: next as AnyKey | undefined };
}
