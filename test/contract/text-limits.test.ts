import { describe, expect, it } from 'vitest';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { ServiceError, type Violation } from '../../shared/runtime/errors.ts';
import { parseInput } from '../../shared/http/parse.ts';
import type { Route } from '../../shared/http/route.ts';
import { openapiDocument } from '../../shared/openapi/openapi-document.ts';
import { compiledOnce, type OpenApiDocument, operationOf, resolved } from '../support/openapi-document.ts';

const document = JSON.parse(JSON.stringify(openapiDocument('1.2.3'))) as OpenApiDocument;
const validatorOf = compiledOnce((schema) => resolved(document, schema));
const operations = (routes as readonly Route[]).map((route) => ({
  route,
  operation: operationOf(document, route.method, route.path),
}));

/** The largest texts that are no content of an asset: base64 of 32 KiB. */
const longestText = 44_000;

/** The lengths that the document names, and one more than each. */
const lengths = [...new Set(limitsIn(document))].filter((limit) => limit <= longestText).flatMap((limit) => [limit, limit + 1]);

function limitsIn(node: unknown): number[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap(limitsIn);
  return 'maxLength' in node && typeof node.maxLength === 'number' ? [node.maxLength, ...inner] : inner;
}

function violationsOf(parse: () => unknown): Violation[] {
  try {
    parse();
    return [];
  } catch (error) {
    if (error instanceof ServiceError) return error.extras.errors ?? [];
    throw error;
  }
}

/** The places of the texts in a value, as keys. */
function textsIn(value: unknown, place: string[] = []): string[][] {
  if (typeof value === 'string') return [place];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...place, key]));
}

function replaced(value: unknown, [key, ...rest]: string[], text: string): unknown {
  if (key === undefined) return text;
  const entries = Object.entries(value as object).map(([name, inner]): [string, unknown] => [
    name,
    name === key ? replaced(inner, rest, text) : inner,
  ]);
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

const queries = operations.flatMap(({ route, operation }) =>
  operation.parameters
    .filter(({ in: place, schema }) => place === 'query' && schema['type'] === 'string')
    .map(({ name, schema }) => {
      return { title: `${name} of ${route.method} ${route.path}`, name, schema: withoutFormat(schema), query: route.query };
    }),
);

/** The format of a filter only says what its values look like: other texts match nothing. */
function withoutFormat(schema: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'format'));
}

/** The run that the client asks for: with any other text it does not exist, which is 404. */
const filters = queries.filter(({ name }) => name !== 'run');

const bodies = operations.flatMap(({ route, operation }) => {
  const media = operation.requestBody?.content['application/json'];
  return media && route.body ? [{ title: `${route.method} ${route.path}`, schema: route.body, media }] : [];
});

describe('the OpenAPI document', () => {
  it('has a limit of its own for each text, of which only content, and evidence for a key, is large', () => {
    const large = Object.entries(document.components.schemas).filter(
      ([, schema]) => Math.max(...limitsIn(schema), 0) > longestText,
    );
    expect(large.map(([name]) => name).sort()).toEqual([
      'AskedKey',
      'Asset',
      'AssetInputFields',
      'AssetReplacementFields',
      'QuoteCollateral',
    ]);
    expect(Math.max(...limitsIn(document.paths))).toBeLessThan(longestText);
  });
});

describe('a query parameter', () => {
  it.each(filters)('is refused by name if it is longer than documented, and not for its length otherwise: $title', (each) => {
    const { name, schema, query } = each;
    for (const length of lengths) {
      const text = 'a'.repeat(length);
      const violations = violationsOf(() => query && parseInput(query, { [name]: text }, 'query'));
      const ofName = violations.filter(({ pointer }) => pointer === `query/${name}`);
      expect([length, ofName.length > 0]).toEqual([length, !validatorOf(schema)(text)]);
    }
  });
});

describe('a text in a body', () => {
  it.each(bodies)('is refused if it is longer than documented, and not for its length otherwise: $title', ({ schema, media }) => {
    const validate = validatorOf(media.schema);
    for (const place of textsIn(media.example)) {
      if (place.join('/') === 'asset/asset') continue; // counted in decoded bytes, by the work
      for (const length of lengths) {
        const body = replaced(media.example, place, 'a'.repeat(length));
        const [violation] = refusalsOf(schema, body);
        const where = `${place.join('/')} of ${length} characters`;
        if (!validate(body)) expect([where, violation]).not.toEqual([where, undefined]);
        else if (violation !== undefined) expect([where, violation]).not.toEqual([where, expect.stringMatching(/characters/)]);
      }
    }
  });
});

/** Returns the refusals of a body, also those of reports, which do not refuse the batch. */
function refusalsOf(schema: NonNullable<Route['body']>, body: unknown): string[] {
  let parsed: unknown;
  const violations = violationsOf(() => (parsed = parseInput(schema, body, '')));
  const { reports = [] } = (parsed ?? {}) as { reports?: { type: string; detail?: string }[] };
  const ofReports = reports.flatMap(({ type, detail = '' }) => (type === 'invalid' ? [detail] : []));
  return [...violations.map(({ detail }) => detail), ...ofReports];
}
