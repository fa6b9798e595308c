import { describe, expect, it } from 'vitest';
import { openapiDocument } from '../../shared/openapi/openapi-document.ts';
import type { OpenApiDocument, Schema } from '../support/openapi-document.ts';

const { schemas } = (JSON.parse(JSON.stringify(openapiDocument('1.2.3'))) as OpenApiDocument).components;

interface Property {
  name: string;
  of: string;
  schema: Schema;
}

const properties: Property[] = Object.entries(schemas).flatMap(([of, { properties: all = {} }]) =>
  Object.entries(all as Record<string, Schema>).map(([name, schema]) => ({ name, of, schema })),
);

function propertyOf(of: string, name: string): Schema {
  return properties.find((property) => property.of === of && property.name === name)?.schema ?? {};
}

const isSentence = ({ description }: Schema) => typeof description === 'string' && /^[A-Z`].*\.$/.test(description);

describe('a named schema of the OpenAPI document', () => {
  it('is described in sentences', () => {
    expect(Object.keys(schemas).length).toBeGreaterThan(50);
    expect(Object.keys(schemas).filter((name) => !isSentence(schemas[name] ?? {}))).toEqual([]);
  });

  it('has properties that are described in sentences, or by the schema that they refer to', () => {
    expect(properties.length).toBeGreaterThan(250);
    const without = properties.filter(({ schema }) => !('$ref' in schema) && !isSentence(schema));
    expect(without.map(({ name, of }) => `${of}.${name}`)).toEqual([]);
  });

  it('has a description of the content that is true for its request', () => {
    expect(propertyOf('AssetInputFields', 'asset')['description']).toContain('upload the content with the presigned request');
    expect(propertyOf('AssetReplacementFields', 'asset')['description']).toContain('If omitted, the content stays as it is.');
  });
});

describe('a page of a list', () => {
  const pages = Object.keys(schemas).filter((name) => name.endsWith('Page') && name !== 'LogPage'); // lines, not entries of a list

  it.each(pages)('has at most 100 entries, and the limit that a request may have: %s', (page) => {
    const lists = properties.filter(({ of, schema }) => of === page && schema['type'] === 'array');
    expect(lists.map(({ schema }) => schema['maxItems'])).toEqual([100]);
    expect(propertyOf(page, 'limit')).toMatchObject({ minimum: 1, maximum: 100, format: 'int32' });
  });

  it('is one of assets, computations, CVMs, events or runs', () => {
    expect(pages).toEqual(['AssetPage', 'ComputationPage', 'CvmPage', 'EventPage', 'RunPage']);
  });
});

describe('a list whose length is limited', () => {
  it.each([
    ['Todo', 'approvals', 100],
    ['Todo', 'keys', 100],
    ['Todo', 'content', 100],
    ['ReportSummary', 'results', 50],
    ['CommandList', 'commands', 2],
    ['NeededApproval', 'because', 102],
    ['MissingItems', 'hashes', 101],
  ])('names its true limit: %s.%s', (of, name, maxItems) => {
    expect(propertyOf(of, name)).toMatchObject({ type: 'array', maxItems });
  });

  it.each(['Approval', 'ApprovalOfRun'])('names its true limit: the CVMs of an %s', (of) => {
    expect(propertyOf(of, 'cvm_ids')['anyOf']).toEqual(expect.arrayContaining([expect.objectContaining({ maxItems: 100 })]));
  });
});
