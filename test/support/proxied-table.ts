import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { localCredentials } from '../../infra/local/local-credentials.ts';
import type { Table } from '../../shared/table/table.ts';
import { startDynamoDbProxy, type DynamoDbProxy } from './dynamodb-proxy.ts';
import { patientDeadline, startEmbeddedTable } from './embedded-table.ts';

export interface ProxiedTable {
  /** The table through the proxy: what is measured or disturbed. */
  table: Table;
  /** The same table, straight on the engine: for filling it. */
  direct: Table;
  proxy: DynamoDbProxy;
  stop: () => Promise<void>;
}

/** A fresh table on an engine of its own, with a recording and fault-injecting proxy before it. */
export async function startProxiedTable(options: { latencyInMilliseconds?: number } = {}): Promise<ProxiedTable> {
  const embedded = await startEmbeddedTable();
  const proxy = await startDynamoDbProxy(embedded.endpoint, options);
  const client = new DynamoDBClient({ endpoint: proxy.endpoint, region: 'local', credentials: localCredentials });
  const document = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return {
    table: { name: embedded.table.name, document, deadline: patientDeadline },
    direct: embedded.table,
    proxy,
    stop: async () => {
      document.destroy();
      await proxy.stop();
      await embedded.stop();
    },
  };
}
