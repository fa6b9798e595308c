import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { localCredentials } from '../../../infra/local/local-credentials.ts';
import type { Table } from '../../../shared/table/table.ts';
import { startEmbeddedTable } from '../embedded-table.ts';
import { startAwsDynamoDb, type AwsDynamoDb, type AwsDynamoDbOptions } from './aws-dynamodb.ts';

export interface AwsTable {
  /** The table as AWS shows it. */
  table: Table;
  /** The same table, straight on the engine: its writes meet no transaction, its reads see what reads through the front see. */
  direct: Table;
  front: AwsDynamoDb;
  stop: () => Promise<void>;
}

/** A fresh table on an engine of its own, behind the front. `maxAttempts` is the SDK's; 1 shows each refusal. Default 3. */
export async function startAwsTable(options: AwsDynamoDbOptions & { maxAttempts?: number } = {}): Promise<AwsTable> {
  const embedded = await startEmbeddedTable();
  const front = await startAwsDynamoDb(embedded.endpoint, options);
  const client = new DynamoDBClient({
    endpoint: front.endpoint,
    region: 'local',
    credentials: localCredentials,
    maxAttempts: options.maxAttempts ?? 3,
  });
  const document = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return {
    table: { name: embedded.table.name, document },
    direct: embedded.table,
    front,
    stop: async () => {
      document.destroy();
      await front.stop();
      await embedded.stop();
    },
  };
}
