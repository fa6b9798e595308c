import type { Table } from '../../../shared/table/table.ts';
import { startEmbeddedTable } from '../embedded-table.ts';
import { startAwsDynamoDb, type AwsDynamoDb, type AwsDynamoDbOptions } from './aws-dynamodb.ts';
import { documentAt } from '../document-at.ts';

export interface AwsTable {
  /** The table through the front. */
  table: Table;
  /** The same table directly on the engine. Its writes never conflict, and its reads see what reads through the front see. */
  direct: Table;
  front: AwsDynamoDb;
  stop: () => Promise<void>;
}

/** Starts an engine with a new table behind the front. `maxAttempts` is the SDK's: 1 shows each error. Default 3. */
export async function startAwsTable(options: AwsDynamoDbOptions & { maxAttempts?: number } = {}): Promise<AwsTable> {
  const embedded = await startEmbeddedTable();
  const front = await startAwsDynamoDb(embedded.endpoint, options);
  const document = documentAt(front.endpoint, { maxAttempts: options.maxAttempts ?? 3 });
  return {
    table: { ...embedded.table, document },
    direct: embedded.table,
    front,
    stop: async () => {
      document.destroy();
      await front.stop();
      await embedded.stop();
    },
  };
}
