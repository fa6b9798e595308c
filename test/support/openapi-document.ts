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
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (!operation) throw new Error(`${method} ${path} is not in the OpenAPI document.`);
  return operation;
}
