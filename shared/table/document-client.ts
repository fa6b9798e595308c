import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** Wraps a client for access to the service's table. Entries of items that are undefined are left out. */
export function documentClient(client: DynamoDBClient): DynamoDBDocumentClient {
  // Even without a logger, it copies all that is sent and received: a twentieth of the processor time of a call, more of a long query.
  client.middlewareStack.remove('loggerMiddleware');
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}
