import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { clientOptions, sharedClient } from '../runtime/clients.ts';
import type { DeadlineSource } from '../runtime/deadline.ts';
import { environment } from '../runtime/environment.ts';
import { emitMetric } from '../runtime/metrics.ts';
import type { Table, TableClient } from './table.ts';

/** The client of all requests of a process. */
export const createTableClient = (): TableClient => documentClient(new DynamoDBClient(clientOptions()));

/** Opens the stage's table. The client is created at the first use. */
export function openTable(deadline: DeadlineSource): Table {
  return {
    name: environment().TABLE_NAME,
    document: sharedClient(createTableClient),
    deadline,
    onConflictRetry: () => emitMetric('ConflictsRetried', 1),
  };
}

/** Wraps a client for access to the service's table. Entries of items that are undefined are left out. */
export function documentClient(client: DynamoDBClient): DynamoDBDocumentClient {
  // Even without a logger, it copies all that is sent and received: a twentieth of the processor time of a call, more of a long query.
  client.middlewareStack.remove('loggerMiddleware');
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}
