import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** The parts of an OpenAPI 3.1 document that the tests read. */
export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string; contact: { name: string } };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; headers: Record<string, Header> };
}

export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  deprecated?: boolean;
  description?: string;
  security?: unknown[];
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, DocumentedResponse>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
}

export interface DocumentedResponse {
  description: string;
  headers?: Record<string, Header | { $ref: string }>;
  content?: Record<string, Media>;
}

export interface Header {
  description: string;
  required?: boolean;
  schema: Schema;
}

export interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

export type Schema = Record<string, unknown>;

/** @throws Error if the document has no such operation */
export function operationOf(document: OpenApiDocument, method: string, path: string): Operation {
  const operation = document.paths[path.replace('+}', '}')]?.[method.toLowerCase()];
  if (!operation) throw new Error(`${method} ${path} is not in the OpenAPI document.`);
  return operation;
}

export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** Checks an answer against the document, and returns its parsed body. */
export type CheckResponse = (method: string, path: string, answer: HttpAnswer) => unknown;

/**
 * Returns a function that checks answers against the OpenAPI document: status, headers, content type, and a body whose fields
 * are all documented. That function throws an Error for an answer that the document does not describe.
 */
export function responseChecker(document: OpenApiDocument): CheckResponse {
  const validatorOf = closedValidators(document);
  return (method, path, { status, headers, text }) => {
    const where = `${method} ${path} answered ${status}, which`;
    const response = operationOf(document, method, path).responses[status];
    if (!response) throw new Error(`${where} is not documented: ${text}`);
    const contentType = headers.get('content-type')?.split(';')[0] ?? '';
    const isByGateway = status >= 400 && contentType === 'application/json';
    const required = Object.entries(response.headers ?? {}).flatMap(([name, header]) =>
      headerOf(document, header)?.required === false ? [] : [name],
    );
    for (const name of isByGateway ? [] : ['x-request-id', ...required]) {
      if (!headers.has(name)) throw new Error(`${where} lacks the header ${name}.`);
    }
    if (!response.content) {
      if (text !== '') throw new Error(`${where} has a body although none is documented: ${text}`);
      return undefined;
    }
    const media = response.content[contentType];
    if (!media) throw new Error(`${where} is not documented as ${contentType}: ${text}`);
    const body: unknown = contentType.endsWith('json') ? JSON.parse(text) : text;
    const validate = validatorOf(media);
    if (!validate(body)) throw new Error(`${where} does not match its schema: ${JSON.stringify(validate.errors)} in ${text}`);
    if (contentType === 'application/problem+json') {
      checkProblem(body as Problem, status, headers, where);
      checkReason(body as Problem, media, where);
    }
    return body;
  };
}

function headerOf({ components }: OpenApiDocument, header: Header | { $ref: string }): Header | undefined {
  return '$ref' in header ? components.headers[header.$ref.replace('#/components/headers/', '')] : header;
}

interface Problem {
  status: number;
  code: string;
  request_id: string;
  detail: string;
  errors?: { pointer: string }[];
  reason?: string;
}

/** Checks what a schema of an error cannot express (docs/contract.md, section 3). */
function checkProblem(problem: Problem, status: number, headers: Headers, where: string): void {
  if (problem.status !== status) throw new Error(`${where} has status ${problem.status} in its body.`);
  if (problem.request_id !== headers.get('x-request-id')) throw new Error(`${where} has another request id in its body.`);
  if (status !== 400) return;
  const [first] = problem.errors ?? [];
  if (!first) throw new Error(`${where} has no errors: ${JSON.stringify(problem)}`);
  const place = `${first.pointer || 'The body'}: `;
  if (!problem.detail.startsWith(place)) throw new Error(`${where} does not name the place first: ${JSON.stringify(problem)}`);
}

/** Checks that an operation has an example for the reason of a conflict, under the name of the reason. */
function checkReason({ reason }: Problem, { examples = {} }: Media, where: string): void {
  if (reason !== undefined && !(reason in examples))
    throw new Error(`${where} has the reason ${reason}, which is not documented.`);
}

export function newAjv(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, code: { optimize: false } });
  addFormats.default(ajv);
  return ajv;
}

/** Compiles validators that refuse undocumented fields. A schema without properties, or for any property, accepts any field. */
function closedValidators(document: OpenApiDocument): (media: Media) => ValidateFunction {
  const validatorOf = compiledOnce((schema) => closed(resolved(document, schema)));
  return ({ schema }) => validatorOf(schema);
}

/** Compiles each schema once, as `complete` returns it. Most answers share their schema, such as that of errors. */
export function compiledOnce(complete: (schema: Schema) => Schema): (schema: Schema) => ValidateFunction {
  const ajv = newAjv();
  const known = new Map<string, ValidateFunction>();
  const ofObject = new WeakMap<Schema, ValidateFunction>();
  return (schema) => {
    const text = ofObject.has(schema) ? '' : JSON.stringify(schema);
    const validate = ofObject.get(schema) ?? known.get(text) ?? ajv.compile(complete(schema));
    if (text) known.set(text, validate);
    ofObject.set(schema, validate);
    return validate;
  };
}

/** Returns the schema with its references to `components` replaced by the schemas. */
export function resolved(document: OpenApiDocument, schema: Schema): Schema {
  return mapSchema(schema, (node) => {
    const name = typeof node['$ref'] === 'string' ? node['$ref'].replace('#/components/schemas/', '') : undefined;
    return name === undefined ? node : (document.components.schemas[name] ?? {});
  });
}

function closed(schema: Schema): Schema {
  return mapSchema(schema, (node) =>
    typeof node['properties'] === 'object' && !('additionalProperties' in node) ? { ...node, additionalProperties: false } : node,
  );
}

function mapSchema(schema: Schema, change: (node: Schema) => Schema): Schema {
  const inner = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inner);
    return typeof value === 'object' && value !== null ? mapSchema(value as Schema, change) : value;
  };
  return Object.fromEntries(Object.entries(change(schema)).map(([key, value]) => [key, inner(value)]));
}
