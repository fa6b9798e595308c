import { localKms } from '../../local/machine/kms.ts';
import { setEnvironment, type Endpoints } from '../../local/machine/environment.ts';
import { clientOptions, replaceClient } from '../../shared/runtime/clients.ts';
import { createTableClient } from '../../shared/table/table.ts';
import { documentAt } from './embedded-table.ts';

/** Sets the variables of the functions, and their client of the table, for tests that call them without a stack. */
export function setTestEnvironment(endpoints: Endpoints, logLevel: 'SILENT' | 'ERROR' = 'SILENT'): void {
  const times = { acceptInSeconds: 300, silenceInSeconds: 120, runInSeconds: 86_400, stopInSeconds: 120 };
  setEnvironment(endpoints, localKms(undefined), times, { logLevel });
  replaceClient(createTableClient, documentAt(endpoints.dynamoDb, clientOptions()));
}
