import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { clientLimits } from '../client-limits.ts';
import { environment } from '../environment.ts';
import { emitMetric } from '../metrics.ts';
import type { Table } from './table.ts';

let known: Table | undefined;

/** The SDK's three would answer 503 to one of a hundred callers where every fifth call meets a fault. */
const maxAttempts = 6;

/** The stage's table, its client made at the first use. */
export function openTable(): Table {
  known ??= {
    name: environment().TABLE_NAME,
    document: DynamoDBDocumentClient.from(new DynamoDBClient({ maxAttempts, requestHandler: clientLimits }), {
      marshallOptions: { removeUndefinedValues: true },
    }),
    onConflictRetry: () => emitMetric('ConflictsRetried', 1),
  };
  return known;
}
