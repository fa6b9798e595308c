import type { Table } from '../../shared/table/table.ts';
import { startDynamoDbProxy, type DynamoDbProxy } from './dynamodb-proxy.ts';
import { patientDeadline, startEmbeddedTable } from './embedded-table.ts';
import { patientClock } from './patience.ts';
import { documentAt } from './document-at.ts';

export interface ProxiedTable {
  /** The table through the proxy, to measure or disturb calls. */
  table: Table;
  /** The same table directly on the engine, to fill it. */
  direct: Table;
  proxy: DynamoDbProxy;
  stop: () => Promise<void>;
}

/** Starts an engine with a new table, behind a proxy that records calls and injects faults. */
export async function startProxiedTable(options: { latencyInMilliseconds?: number } = {}): Promise<ProxiedTable> {
  const embedded = await startEmbeddedTable();
  const proxy = await startDynamoDbProxy(embedded.endpoint, options);
  const document = documentAt(proxy.endpoint);
  return {
    table: { name: embedded.table.name, document, deadline: patientDeadline, clock: patientClock },
    direct: embedded.table,
    proxy,
    stop: async () => {
      document.destroy();
      await proxy.stop();
      await embedded.stop();
    },
  };
}
