import { toJsonSchema, type ConversionConfig, type JsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';

/**
 * A schema as JSON Schema 2020-12: of what is sent (`input`) or of what is answered (`output`). What JSON Schema cannot say is
 * left out; what a schema says in `v.metadata` is taken over.
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
