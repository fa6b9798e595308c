import { createTable, startDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { local } from '../../local/machine/environment.ts';
import type { Table } from '../../shared/table/table.ts';
import { patientClock, untilTestEnds } from './patience.ts';
import { documentAt } from './document-at.ts';

/** A deadline that a busy machine does not exceed: the time limit of the test ends it first. */
export const patientDeadline = () => new Deadline(untilTestEnds.timeout);

export interface EmbeddedTable {
  table: Table;
  endpoint: string;
  stop: () => Promise<void>;
}

/** Starts an engine with a new table, used through the real SDK. */
export async function startEmbeddedTable(): Promise<EmbeddedTable> {
  const engine = await startDynamoDb();
  const name = local.tableName; // the name that setEnvironment sets for the functions
  await createTable(engine.endpoint, name);
  const document = documentAt(engine.endpoint);
  return {
    table: { name, document, deadline: patientDeadline, clock: patientClock },
    endpoint: engine.endpoint,
    stop: async () => {
      document.destroy();
      await engine.stop();
    },
  };
}
