import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { openapiDocument } from '../shared/openapi/openapi-document.ts';

/** The part of the OpenAPI document that the client is generated from. */
interface Document {
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  deprecated?: boolean;
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: Record<string, { headers?: unknown; content?: Record<string, { example?: unknown; examples?: unknown }> }>;
}

const notice = '// Generated from the OpenAPI document by `npm run client:types`. Do not edit.\n\n';

/** Matches generated types for parts that the OpenAPI document does not have. */
const emptyTypes = /^export type (webhooks|\$defs) = Record<string, never>;\n/gm;

/**
 * Generates the files of packages/client/generated from the OpenAPI document. Leaves out deprecated operations, error responses
 * (the client throws them as one class), headers and examples.
 * @returns the text of each file, by its name
 */
export async function generateApiTypes(): Promise<Record<string, string>> {
  const document = JSON.parse(JSON.stringify(openapiDocument('0.0.0'))) as Document;
  for (const [path, operations] of Object.entries(document.paths)) {
    const kept = Object.entries(operations).filter(([, { deprecated }]) => deprecated !== true);
    document.paths[path] = Object.fromEntries(kept.map(([method, operation]) => [method, successOf(operation)]));
  }
  const types = astToString(await openapiTS(document as never, { defaultNonNullable: false })).replaceAll(emptyTypes, '');
  return {
    'api-types.ts': `${notice}${types}\nexport type Schemas = components['schemas'];\n`,
    'operation-routes.ts': notice + routesOf(document),
  };
}

function successOf({ responses, requestBody, ...rest }: Operation): Operation {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const bare = successes.map(([status, { headers: _, content, ...response }]) => [
    status,
    { ...response, ...(content ? { content: withoutExamples(content) } : {}) },
  ]);
  return {
    ...rest,
    ...(requestBody ? { requestBody: { ...requestBody, content: withoutExamples(requestBody.content) } } : {}),
    responses: Object.fromEntries(bare) as Operation['responses'],
  };
}

function withoutExamples(content: Record<string, { example?: unknown; examples?: unknown }>) {
  return Object.fromEntries(Object.entries(content).map(([type, { example: _, examples: __, ...media }]) => [type, media]));
}

function routesOf({ paths }: Document): string {
  const lines = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, { operationId, summary, description }]) =>
        `  /** ${description === summary ? summary : `${summary}. ${description}`} */\n  ${operationId}: '${method.toUpperCase()} ${path}',\n`,
    ),
  );
  return `/** The method and path of each operation. */\nexport const operationRoutes = {\n${lines.join('')}} as const;\n`;
}

if (import.meta.main) {
  const folder = join(import.meta.dirname, '../packages/client/generated');
  for (const [name, text] of Object.entries(await generateApiTypes())) writeFileSync(join(folder, name), text);
}
