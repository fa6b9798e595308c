import { ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import type { AnyKey } from './keys.ts';
import { deadlineOf, until, type Table, type Item } from './table.ts';

/**
 * The options of a page of a scan of the table: where it starts, how many items it examines, which items it returns, and which
 * attributes.
 */
export interface ScanOptions {
  after?: AnyKey | undefined;
  /** The most items that a page of a scan examines. Items that the filter excludes count too. */
  limit: number;
  filter: Required<Pick<ScanCommandInput, 'FilterExpression' | 'ExpressionAttributeValues'>>;
  /** The names of the attributes that a scan reads. They must not be reserved words of DynamoDB. */
  attributes: string[];
}

interface ScannedPage {
  items: Item[];
  /** The key after which the next page of a scan starts. Undefined after the last item of the table. */
  next: AnyKey | undefined;
}

/**
 * Reads a page of all items in the table, in no defined order, strongly consistent, up to 1 MB in one round trip. A scan costs 1
 * read unit per 4 KB read, so about 262,000 per GB: no request may use it.
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
