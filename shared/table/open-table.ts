import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { clientLimits } from '../client-limits.ts';
import { sharedClient } from '../clients.ts';
import type { DeadlineSource } from '../deadline.ts';
import { environment } from '../environment.ts';
import { emitMetric } from '../metrics.ts';
import { documentClient } from './document-client.ts';
import type { Table } from './table.ts';

/** With the SDK's default of 3, about one caller in a hundred would get a 503 if every fifth call failed. */
const maxAttempts = 6;

/** Milliseconds before attempt 2, 3, ... of a call. The SDK's default of seconds would use up the deadline. */
const pauseBefore = (attempt: number) => Math.random() * Math.min(1_000, 25 * 2 ** attempt);

function createClient(): DynamoDBDocumentClient {
  const retryStrategy = new ConfiguredRetryStrategy(maxAttempts, pauseBefore);
  return documentClient(new DynamoDBClient({ retryStrategy, requestHandler: clientLimits }));
}

/** Opens the stage's table. The client is created at the first use. */
export function openTable(deadline: DeadlineSource): Table {
  return {
    name: environment().TABLE_NAME,
    document: sharedClient(createClient),
    deadline,
    onConflictRetry: () => emitMetric('ConflictsRetried', 1),
  };
}
