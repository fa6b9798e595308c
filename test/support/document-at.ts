import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { localCredentials } from '../../local/machine/environment.ts';
import { sendUnsigned } from '../../local/machine/engine-clients.ts';
import { documentClient } from '../../shared/table/open-table.ts';

/** Creates the service's own client for the embedded engine, or for what stands in front of it. */
export function documentAt(endpoint: string, options: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  const document = documentClient(new DynamoDBClient({ endpoint, region: 'local', credentials: localCredentials, ...options }));
  sendUnsigned(document, 'dynamodb');
  return document;
}
