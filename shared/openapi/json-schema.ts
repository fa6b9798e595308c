import { toJsonSchema, type ConversionConfig, type JsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { limited } from './limits.ts';

/**
 * Converts a schema to JSON Schema 2020-12, as sent (`input`) or as returned (`output`). Leaves out what JSON Schema cannot
 * express and adds what the schema has in `v.metadata`. Every array and integer has limits, and every text that declares one.
 */
export function jsonSchemaOf(schema: v.GenericSchema, typeMode: 'input' | 'output'): JsonSchema {
  const config: ConversionConfig = {
    typeMode,
    target: 'draft-2020-12',
    errorMode: 'ignore',
    overrideAction: ({ valibotAction, jsonSchema }) =>
      valibotAction.type === 'metadata'
        ? { ...jsonSchema, ...(valibotAction as unknown as { metadata: JsonSchema }).metadata }
        : undefined,
    overrideSchema: ({ jsonSchema }) => {
      if (typeof jsonSchema.default === 'object') return withoutDefault(jsonSchema);
      return jsonSchema.const === undefined ? undefined : withType(jsonSchema);
    },
  };
  const { $schema: _, ...converted } = toJsonSchema(schema, config);
  return limited(converted);
}

/** The default `{}` of an object only means that its fields have their defaults. Generated Go does not compile with it. */
function withoutDefault({ default: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/**
 * A constant without a type is anything to the generators of Go and Python. A Boolean constant is shown as any Boolean, because
 * generated Python compares it with a text.
 */
function withType({ const: constant, ...schema }: JsonSchema): JsonSchema {
  if (typeof constant === 'boolean') return { type: 'boolean', ...schema };
  return { type: typeof constant as 'string' | 'number', const: constant, ...schema };
}
