import type { JsonSchema } from '@valibot/to-json-schema';

/** A response of a function has at most 6 MiB, and an entry of an array takes at least two bytes of it. */
const mostEntries = (6 * 1024 * 1024) / 2;

const lengthOfFormat: Record<string, number> = { uuid: 36, 'date-time': 35, date: 10 };

const largestInt32 = 2 ** 31 - 1;

/**
 * Adds limits to every array and integer of a schema that has none of its own, and to texts of a format with a longest form. Other
 * texts declare their own. Integers of this API are never negative.
 */
export function limited(schema: JsonSchema): JsonSchema {
  return withLimits(schema) as JsonSchema;
}

function withLimits(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withLimits);
  if (typeof node !== 'object' || node === null) return node;
  const schema: Record<string, unknown> = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withLimits(value)]),
  );
  switch (schema['type']) {
    case 'string':
      return 'enum' in schema || 'const' in schema ? schema : { ...schema, maxLength: lengthOf(schema) };
    case 'array':
      return { maxItems: mostEntries, ...schema };
    case 'integer':
      return integer(schema);
    default:
      return schema;
  }
}

function lengthOf({ maxLength, format }: Record<string, unknown>): unknown {
  return maxLength ?? lengthOfFormat[String(format)];
}

function integer(schema: Record<string, unknown>) {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  return { ...schema, format: Number(maximum) > largestInt32 ? 'int64' : 'int32', minimum, maximum };
}
