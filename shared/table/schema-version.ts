import { schemaKeys } from './keys.ts';
import { schemaVersion, type Table } from './table.ts';
import { updateNumberIf } from './writes.ts';

/** Marks a table that has no mark. @throws Error if it has the mark of another version */
export async function assertSchemaOfTable(table: Table): Promise<void> {
  const { isDone, value } = await updateNumberIf(table, schemaKeys.version, 'schema', {
    UpdateExpression: 'SET #schema = :version',
    ConditionExpression: 'attribute_not_exists(#schema) OR #schema = :version',
    ExpressionAttributeNames: { '#schema': 'schema' },
    ExpressionAttributeValues: { ':version': schemaVersion },
  });
  if (!isDone) throw new Error(`The data has schema version ${value}. This service knows only version ${schemaVersion}.`);
}
