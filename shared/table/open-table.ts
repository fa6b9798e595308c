import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { clientOptions } from '../client-limits.ts';
import { sharedClient } from '../clients.ts';
import type { DeadlineSource } from '../deadline.ts';
import { environment } from '../environment.ts';
import { emitMetric } from '../metrics.ts';
import { documentClient } from './document-client.ts';
import type { Table } from './table.ts';

const createClient = (): DynamoDBDocumentClient => documentClient(new DynamoDBClient(clientOptions()));

/** Opens the stage's table. The client is created at the first use. */
export function openTable(deadline: DeadlineSource): Table {
  return {
    name: environment().TABLE_NAME,
    document: sharedClient(createClient),
    deadline,
    onConflictRetry: () => emitMetric('ConflictsRetried', 1),
  };
}
