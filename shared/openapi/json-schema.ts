import { toJsonSchema, type ConversionConfig, type JsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { isDeepStrictEqual } from 'node:util';

/**
 * Converts a schema to JSON Schema 2020-12, as sent (`input`) or as returned (`output`), with what the schema has in
 * `v.metadata`. Every array and integer gets limits, and every text that declares one.
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
      if (jsonSchema.type === 'null') return { type: ['string', 'null'], enum: [null] }; // generated TypeScript lacks a class `Null`
      if (typeof jsonSchema.default === 'object') return withoutDefault(jsonSchema);
      return jsonSchema.const === undefined ? undefined : withType(jsonSchema);
    },
  };
  const { $schema: _, ...converted } = toJsonSchema(schema, config);
  return limited(converted);
}

/**
 * Removes the default from the JSON Schema of an object. The default `{}` only means that the object's fields have their
 * defaults, and generated Go does not compile with it.
 */
const withoutDefault = ({ default: _, ...schema }: JsonSchema): JsonSchema => schema;

/**
 * Adds the type to the JSON Schema of a constant, because generators of Go and Python treat a constant without a type as
 * anything. A Boolean constant is shown as any Boolean, because generated Python compares it with a text.
 */
function withType({ const: constant, ...schema }: JsonSchema): JsonSchema {
  if (typeof constant === 'boolean') return { type: 'boolean', ...schema };
  return { type: typeof constant as 'string' | 'number', const: constant, ...schema };
}

/**
 * The most entries of an array in the OpenAPI document that has no limit of its own. A response of a function has at most 6 MiB,
 * and an entry takes at least two bytes of it.
 */
const mostEntries = (6 * 1024 * 1024) / 2;

const lengthOfFormat: Record<string, number> = { uuid: 36, 'date-time': 35, date: 10 };

const largestInt32 = 2 ** 31 - 1;

/**
 * Adds limits to all parts of a JSON Schema that have none of their own: arrays, integers, and texts of a format with a longest
 * form. Integers of this API are never negative.
 */
export const limited = (schema: JsonSchema): JsonSchema => withLimits(schema) as JsonSchema;

function withLimits(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withLimits);
  if (typeof node !== 'object' || node === null) return node;
  const schema: Record<string, unknown> = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withLimits(value)]),
  );
  switch (schema['type']) {
    case 'string':
      return 'enum' in schema || 'const' in schema
        ? schema
        : { ...schema, maxLength: schema['maxLength'] ?? lengthOfFormat[String(schema['format'])] };
    case 'array':
      return { maxItems: mostEntries, ...schema };
    case 'integer':
      return integer(schema);
    default:
      return schema;
  }
}

function integer(schema: Record<string, unknown>) {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  return { ...schema, format: Number(maximum) > largestInt32 ? 'int64' : 'int32', minimum, maximum };
}

/** Collects the schemas of the OpenAPI document that have a name, given by their `v.title`. */
export class Components {
  private readonly named = new Map<string, JsonSchema>();

  /**
   * Adds a schema and returns its JSON Schema, in which a reference takes the place of every titled part.
   * @throws TypeError if two different shapes have the same title
   */
  add(schema: v.GenericSchema, typeMode: 'input' | 'output'): JsonSchema {
    return this.moved(jsonSchemaOf(schema, typeMode)) as JsonSchema;
  }

  get schemas(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.named].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  private moved(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((entry) => this.moved(entry));
    if (typeof node !== 'object' || node === null) return node;
    const inner = Object.fromEntries(Object.entries(withNamedKinds(node)).map(([key, value]) => [key, this.moved(value)]));
    const { title, ...shape } = inner;
    if (typeof title !== 'string') return inner;
    const known = this.named.get(title);
    if (known && !isDeepStrictEqual(known, shape)) throw new TypeError(`Two different schemas are titled ${title}.`);
    this.named.set(title, shape);
    return { $ref: `#/components/schemas/${title}` };
  }
}

interface Kind {
  title?: string;
  properties?: { type?: { const?: unknown } };
}

/**
 * Names the variants of a schema in the OpenAPI document that differ in `type`: a Report of type `accepted` is an
 * AcceptedReport.
 */
function withNamedKinds(node: object): object {
  const { title, oneOf } = node as { title?: unknown; oneOf?: Kind[] };
  if (typeof title !== 'string' || !Array.isArray(oneOf)) return node;
  return { ...node, oneOf: oneOf.map((kind) => ({ title: nameOfKind(kind, title), ...kind })) };
}

function nameOfKind({ properties }: Kind, title: string): string | undefined {
  const type = properties?.type?.const;
  return typeof type === 'string' ? `${type.charAt(0).toUpperCase()}${type.slice(1)}${title}` : undefined;
}
