import { ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import { deadlineOf, until, type Table, type Item } from './table.ts';

/** The options of a scan of the table: which items it returns, and which attributes. */
export interface ScanOptions {
  filter: Required<Pick<ScanCommandInput, 'FilterExpression' | 'ExpressionAttributeValues'>>;
  /** The names of the attributes that a scan reads. They must not be reserved words of DynamoDB. */
  attributes: string[];
}

/** The most items that a page of a scan examines. Items that the filter excludes count too. */
const itemsPerPage = 5_000;

/**
 * Yields all items in the table in pages, in no defined order, strongly consistent, up to 1 MB in one round trip. A scan costs 1
 * read unit per 4 KB read, so about 262,000 per GB: no request may use it.
 */
export async function* scan(table: Table, { filter, attributes }: ScanOptions): AsyncGenerator<Item[], void> {
  let after: ScanCommandInput['ExclusiveStartKey'];
  do {
    const command = new ScanCommand({
      TableName: table.name,
      ConsistentRead: true,
      ExclusiveStartKey: after,
      Limit: itemsPerPage,
      ProjectionExpression: attributes.join(', '),
      ...filter,
    });
    const { Items: items = [], LastEvaluatedKey: next } = await table.document.send(command, until(deadlineOf(table)));
    yield items;
    after = next;
  } while (after);
}
