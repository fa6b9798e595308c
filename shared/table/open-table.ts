import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { environment } from '../environment.ts';
import { emitMetric } from '../metrics.ts';
import type { Table } from './table.ts';

let known: Table | undefined;

/** The stage's table, its client made at the first use. */
export function openTable(): Table {
  known ??= {
    name: environment().TABLE_NAME,
    document: DynamoDBDocumentClient.from(new DynamoDBClient({}), { marshallOptions: { removeUndefinedValues: true } }),
    onConflictRetry: () => emitMetric('ConflictsRetried', 1),
  };
  return known;
}
