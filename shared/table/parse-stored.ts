import * as v from 'valibot';

/** A binary attribute. */
export const storedBytes = v.custom<Uint8Array>((input) => input instanceof Uint8Array, 'Expected bytes.');

/**
 * Parses a stored item.
 * @throws Error that names the invalid field if the item does not match its schema, or the schema version if that is another one; an
 * internal error
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

/** The attribute of whole items whose shape may change. Updates of single attributes leave it as it is. */
export const schemaAttribute = { schema: schemaVersion };

/** The kinds of whole items whose shape may change. Each is written with `schemaAttribute`. */
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

/** @throws Error if the item has a schema of another version, or none although its kind has one */
export function assertSchema(stored: unknown, kind: string): void {
  const schema = typeof stored === 'object' && stored !== null && 'schema' in stored ? stored.schema : undefined;
  if (schema === schemaVersion || (schema === undefined && !versionedKinds.has(kind))) return;
  throw new Error(`A stored ${kind} has schema version ${String(schema)}. This service knows only version ${schemaVersion}.`);
}
