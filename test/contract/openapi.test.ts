import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { parseInput } from '../../shared/http/parse.ts';
import type { Contract } from '../../shared/http/contract.ts';
import { contracts } from '../../shared/openapi/contracts.ts';
import { openapiDocument } from '../../shared/openapi/openapi-document.ts';
import { routes, type Route } from '../../shared/routes.ts';
import { newAjv, resolved } from '../support/check-response.ts';
import { operationOf, type Media, type OpenApiDocument, type Schema } from '../support/openapi-document.ts';

const document = JSON.parse(JSON.stringify(openapiDocument('1.2.3'))) as OpenApiDocument;

/** Endpoints 1 to 24 of the specification, 25 and 26 of docs/contract.md, as written there; POST beside GET for 13 by decision. */
const specified = `
  1  POST   /{domainID}/computations
  2  GET    /{domainID}/computations
  3  GET    /{domainID}/computations/{id}
  4  PUT    /{domainID}/computations/{id}
  5  DELETE /{domainID}/computations/{id}
  6  POST   /{domainID}/computations/{id}/run
  7  GET    /{domainID}/computations/{id}/run
  8  GET    /{domainID}/computations/runs
  9  GET    /{domainID}/computations/statistics
  10 POST   /{domainID}/computations/{id}/key
  11 GET    /{domainID}/computations/{id}/key
  12 POST   /{domainID}/computations/{id}/dryrun
  13 GET    /{domainID}/computations/{id}/stop
  13 POST   /{domainID}/computations/{id}/stop
  14 GET    /{domainID}/computations/{id}/manifest
  15 POST   /{domainID}/assets
  16 GET    /{domainID}/assets
  17 GET    /{domainID}/assets/{id}
  18 PUT    /{domainID}/assets/{id}
  19 DELETE /{domainID}/assets/{id}
  20 POST   /{domainID}/assets/{assetID}/{computationID}
  21 GET    /{domainID}/assets/{assetID}/computations
  22 PUT    /{domainID}/assets/{assetID}/{computationID}
  23 GET    /{domainID}/computations/{id}/events
  24 GET    /{domainID}/computations/{id}/status
  25 GET    /{domainID}/cvms/{cvmID}/commands
  26 POST   /{domainID}/cvms/{cvmID}/reports`;

const rows = routes as readonly Route[];
const places = (method: string, path: string) => `${method} ${path}`;
const operations = rows.map((route) => ({ route, operation: operationOf(document, route.method, route.path) }));

describe('the route table', () => {
  it('has every endpoint of the specification, and health and the document beside them', () => {
    const written = specified
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).join(' ').replace('{assetID}', '{id}'));
    const numbered = rows.filter((route) => route.endpoint !== undefined);
    expect(numbered.map(({ endpoint, method, path }) => `${endpoint} ${method} ${path}`)).toEqual(written);
    const others = rows.filter((route) => route.endpoint === undefined);
    expect(others.map(({ method, path }) => places(method, path))).toEqual(['GET /health', 'GET /openapi.json']);
  });

  it('has the same rows as the document has operations', () => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => places(method.toUpperCase(), path)),
    );
    expect(documented.sort()).toEqual(rows.map(({ method, path }) => places(method, path)).sort());
  });

  it('has a function for each row, and no function of an endpoint is without one', () => {
    const folder = join(import.meta.dirname, '../../functions');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const ofEndpoints = files.map((file) => file.replace(/\.ts$/, '')).filter((name) => !/^(lifecycle|maintenance)\//.test(name));
    expect(ofEndpoints.sort()).toEqual([...new Set(rows.map((route) => route.name))].sort());
  });

  it('has a contract for each row', () => {
    expect(Object.keys(contracts).sort()).toEqual([...new Set(rows.map((route) => route.name))].sort());
  });
});

describe('the OpenAPI document', () => {
  it('is valid by the OpenAPI 3.1 schema', async () => {
    expect(await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>)).toEqual({
      valid: true,
    });
  });

  it('has the version that it is given, and nothing that JSON cannot say', () => {
    expect(document.info.version).toBe('1.2.3');
    expect(openapiDocument('1.2.3')).toStrictEqual(document);
  });

  it('gives every operation another identifier', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(rows.length);
  });

  it.each(operations)('says of $route.method $route.path what it takes', ({ route, operation }) => {
    expect(operation.summary).not.toBe('');
    if (route.access) expect(operation.description).toMatch(/Takes `\w+` \(\w+/);
    else expect(operation.security).toEqual([]);
    const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
    expect(inPath.map((parameter) => parameter.name)).toEqual([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    expect(inPath.every((parameter) => parameter.required && parameter.description)).toBe(true);
    for (const parameter of operation.parameters) expect([parameter.name, parameter.description]).not.toContain(undefined);
  });

  it.each(operations)('gives an example of what $route.method $route.path takes and answers', ({ operation }) => {
    const sent = Object.values(operation.requestBody?.content ?? {});
    const answered = Object.values(operation.responses).flatMap(({ content = {} }) => Object.values(content));
    for (const media of [...sent, ...answered]) expectExampleFits(media);
    const [success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? [''];
    if (success !== '204') expect(operation.responses[success]?.content?.['application/json']).toHaveProperty('example');
    for (const media of sent) expect(media).toHaveProperty('example');
  });

  it.each(operations)(
    'has an example of the request that the handler of $route.method $route.path takes',
    ({ route, operation }) => {
      const contract: Contract = contracts[route.name as keyof typeof contracts];
      const example = operation.requestBody?.content['application/json']?.example;
      expect(example === undefined).toBe(contract.body === undefined);
      if (contract.body) expect(() => contract.body && parseInput(contract.body, example, '')).not.toThrow();
    },
  );

  it('has examples in its schemas that fit them', () => {
    const examples = schemasWithExamples(document);
    expect(examples.length).toBeGreaterThan(10);
    const ajv = newAjv();
    for (const schema of examples) {
      for (const example of schema['examples'] as unknown[]) {
        expect([schema, example, ajv.validate(resolved(document, schema), example)]).toEqual([schema, example, true]);
      }
    }
  });
});

function expectExampleFits({ schema, example }: Media): void {
  if (example === undefined) return;
  const ajv = newAjv();
  ajv.validate(resolved(document, schema), example);
  expect(ajv.errors).toBeNull();
}

function schemasWithExamples(node: unknown): Schema[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap(schemasWithExamples);
  return 'examples' in node && Array.isArray(node.examples) ? [node, ...inner] : inner;
}
