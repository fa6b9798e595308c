import * as v from 'valibot';
import { assertSchema } from './schema-version.ts';

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
