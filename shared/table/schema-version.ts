import { schemaKeys } from './keys.ts';
import { updateNumberIf } from './numbers.ts';
import type { Table } from './table.ts';

/** The version of the shapes of all stored items. docs/adr/0007-migrations.md says what a change of it takes. */
export const schemaVersion = 1;

/** The attribute of whole items whose shape may change. Updates of single attributes leave it as it is. */
export const schemaAttribute = { schema: schemaVersion };

/** @throws Error if the item has a schema of another version */
export function assertSchema(stored: unknown, kind: string): void {
  if (typeof stored !== 'object' || stored === null || !('schema' in stored) || stored.schema === schemaVersion) return;
  throw new Error(
    `A stored ${kind} has schema version ${String(stored.schema)}. This service knows only version ${schemaVersion}.`,
  );
}

/** Marks a table that has no mark with the schema version. @throws Error if it has the mark of another version */
export async function assertSchemaOfTable(table: Table): Promise<void> {
  const { isDone, value } = await updateNumberIf(table, schemaKeys.version, 'schema', {
    UpdateExpression: 'SET #schema = :version',
    ConditionExpression: 'attribute_not_exists(#schema) OR #schema = :version',
    ExpressionAttributeNames: { '#schema': 'schema' },
    ExpressionAttributeValues: { ':version': schemaVersion },
  });
  if (!isDone) throw new Error(`The data has schema version ${value}. This service knows only version ${schemaVersion}.`);
}
