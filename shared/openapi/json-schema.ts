import { toJsonSchema, type ConversionConfig, type JsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';

/**
 * Converts a schema to JSON Schema 2020-12, as sent (`input`) or as returned (`output`). Leaves out what JSON Schema cannot
 * express and adds what the schema has in `v.metadata`.
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
  };
  const { $schema: _, ...converted } = toJsonSchema(schema, config);
  return converted;
}
