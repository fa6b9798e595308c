import * as v from 'valibot';
import { assertKnownSchema } from './schema-version.ts';

/** A binary attribute. */
export const storedBytes = v.custom<Uint8Array>((input) => input instanceof Uint8Array, 'Expected bytes.');

/**
 * What a stored item holds. One that does not fit its schema is an internal error: a plain Error that names the place. So is one
 * that a newer version of the service wrote (see schema-version.ts).
 */
export function parseStored<Schema extends v.GenericSchema>(
  schema: Schema,
  stored: unknown,
  what: string,
): v.InferOutput<Schema> {
  assertKnownSchema(stored, what);
  const result = v.safeParse(schema, stored);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new Error(`A stored ${what} does not fit: ${v.getDotPath(issue) ?? 'item'}: ${issue.message}`);
}
