import type { JsonSchema } from '@valibot/to-json-schema';
import { isDeepStrictEqual } from 'node:util';
import type * as v from 'valibot';
import { jsonSchemaOf } from './json-schema.ts';

/** The named schemas of an OpenAPI document. A schema's name is its `v.title`. */
export class Components {
  private readonly named = new Map<string, JsonSchema>();

  /**
   * Converts a schema and moves every titled part of it into the components, with a reference in its place.
   * @throws TypeError if two different shapes have the same title
   */
  add(schema: v.GenericSchema, typeMode: 'input' | 'output'): JsonSchema {
    return this.moved(jsonSchemaOf(schema, typeMode)) as JsonSchema;
  }

  /** All schemas added so far, by name. */
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

/** Names the kinds of a schema that `type` distinguishes: a Report of type `accepted` is an AcceptedReport. */
function withNamedKinds(node: object): object {
  const { title, oneOf } = node as { title?: unknown; oneOf?: Kind[] };
  if (typeof title !== 'string' || !Array.isArray(oneOf)) return node;
  return { ...node, oneOf: oneOf.map((kind) => ({ title: nameOfKind(kind, title), ...kind })) };
}

function nameOfKind({ properties }: Kind, title: string): string | undefined {
  const type = properties?.type?.const;
  return typeof type === 'string' ? `${type.charAt(0).toUpperCase()}${type.slice(1)}${title}` : undefined;
}
