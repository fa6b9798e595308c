import * as v from 'valibot';
import type { Table } from './table.ts';
import { updateNumberIf } from './writes.ts';
import { schemaKeys } from './keys.ts';
/**
 * Checks that this version of the service knows the stored shapes of the table. Marks a table that has no mark.
 * @throws Error if the table has the mark of another version
 */
export async function assertSchemaOfTable(table: Table): Promise<void> {
  const { isDone, value } = await updateNumberIf(table, schemaKeys.version, 'schema', {
    UpdateExpression: 'SET #schema = :version',
    ConditionExpression: 'attribute_not_exists(#schema) OR #schema = :version',
    ExpressionAttributeNames: { '#schema': 'schema' },
    ExpressionAttributeValues: { ':version': schemaVersion },
  });
  if (!isDone) throw new Error(`The data has schema version ${value}. This service knows only version ${schemaVersion}.`);
}

/** Schema of an attribute that stores bytes. */
export const storedBytes = v.custom<Uint8Array>((input) => input instanceof Uint8Array, 'Expected bytes.');

/**
 * Parses an item of the table with the schema of its kind.
 * @param what names the kind of item in the error
 * @throws Error, answered as an internal error, that names the invalid field, or the schema version of an item with another
 * version
 */
export function parseStored<Schema extends v.GenericSchema>(
  schema: Schema,
  stored: unknown,
  what: string,
): v.InferOutput<Schema> {
  assertSchema(stored, what);
  const result = v.safeParse(schema, stored);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new Error(`A stored ${what} does not fit: ${v.getDotPath(issue) ?? 'item'}: ${issue.message}`);
}

/** The version of the shapes of all stored items. docs/adr/0007-migrations.md says what a change of it takes. */
export const schemaVersion = 1;

/**
 * The attribute with the schema version, for items that are written as a whole. Updates of single attributes leave it as it is.
 */
export const schemaAttribute = { schema: schemaVersion };

/** The kinds of stored items that must have a schema version. Each is written with `schemaAttribute`. */
const versionedKinds = new Set([
  'asset',
  'claim',
  'computation',
  'evidence',
  'journal head',
  'kept answer',
  'registered CVM',
  'run',
  'snapshot of a run',
]);

/**
 * Checks that a stored item has the schema version that this service knows.
 * @throws Error if the item has another version, or none although its kind must have one
 */
export function assertSchema(stored: unknown, kind: string): void {
  const schema = typeof stored === 'object' && stored !== null && 'schema' in stored ? stored.schema : undefined;
  if (schema === schemaVersion || (schema === undefined && !versionedKinds.has(kind))) return;
  throw new Error(`A stored ${kind} has schema version ${String(schema)}. This service knows only version ${schemaVersion}.`);
}

/** Returns Node's module zlib. It is loaded on first use, because an import would add to the cold start of a function. */
const zlib = () => process.getBuiltinModule('node:zlib');

/** Compresses a text with raw deflate, to store it. */
export function deflated(text: string): Uint8Array {
  return zlib().deflateRawSync(text);
}

/** Decompresses a stored text that `deflated` has compressed. */
export function inflated(bytes: Uint8Array): string {
  return zlib().inflateRawSync(bytes).toString();
}
