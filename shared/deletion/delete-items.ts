import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Key } from '../table/keys.ts';
import { pause, queryItems, type Table } from '../table/table.ts';

const itemsPerBatch = 25;

/** Deletes every item of a partition. Safe to repeat and to interrupt. */
export async function deletePartition(table: Table, pk: string): Promise<void> {
  for (;;) {
    const items = await queryItems(table, {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
      ProjectionExpression: 'pk, sk',
      Limit: 1000,
    });
    if (items.length === 0) return;
    await deleteItems(
      table,
      items.map((item) => ({ pk: String(item['pk']), sk: String(item['sk']) })),
    );
  }
}

async function deleteItems(table: Table, keys: Key[]): Promise<void> {
  for (let start = 0; start < keys.length; start += itemsPerBatch) {
    let open = keys.slice(start, start + itemsPerBatch).map((Key) => ({ DeleteRequest: { Key } }));
    for (let attempt = 0; open.length > 0; attempt++) {
      if (attempt > 0) await pause(attempt);
      const { UnprocessedItems } = await table.document.send(new BatchWriteCommand({ RequestItems: { [table.name]: open } }));
      open = (UnprocessedItems?.[table.name] ?? []) as typeof open;
    }
  }
}
