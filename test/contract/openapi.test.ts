import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tasks } from '../../shared/tasks/tasks.ts';
import { describe, expect, it } from 'vitest';
import { variablesOf } from '../../infra/service/service-function.ts';
import { inlineLimitInBytes } from '../../shared/rows/asset.ts';
import { parseInput } from '../../shared/http/parse.ts';
import { conflictReasons, refusalReasons } from '../../shared/runtime/errors.ts';
import { openapiDocument } from '../../shared/openapi/openapi-document.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { statusOf, type Route } from '../../shared/http/route.ts';
import { nameOf, specified } from '../access/decisions.ts';
import {
  compiledOnce,
  type Media,
  newAjv,
  type OpenApiDocument,
  type Operation,
  operationOf,
  resolved,
  type Schema,
} from '../support/openapi-document.ts';

const document = JSON.parse(JSON.stringify(openapiDocument('1.2.3'))) as OpenApiDocument;

const rows = routes as readonly Route[];
interface Documented {
  route: Route;
  operation: Operation;
}

const operations: Documented[] = rows.map((route) => ({
  route,
  operation: operationOf(document, route.method, route.path),
}));

/** Returns whether the bodies and headers of an endpoint are those of a foreign protocol: KBS 0.4.0. */
const isOfKbs = ({ path }: Route) => path.startsWith('/{domainID}/kbs/');

/** The examples of errors. */
const problems = operations.flatMap(({ operation }) =>
  Object.values(operation.responses).flatMap(({ content = {} }) =>
    Object.entries(content['application/problem+json']?.examples ?? {}).map(([name, { value }]) => ({
      name,
      problem: value as Record<string, unknown>,
    })),
  ),
);

/** The texts in a line of code that are long enough to be sentences, with anything in place of what they take in. */
function sentencesIn(line: string): RegExp[] {
  const texts = [...line.matchAll(/'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)].map(
    ([, quoted, template]) => quoted ?? template ?? '',
  );
  return texts.flatMap((text) => {
    const parts = text.replaceAll(/\\(.)/g, '$1').split(/\$\{[^}]*\}/);
    const escaped = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return parts.join('').length < 15 ? [] : [new RegExp(`^${escaped.join('.+')}$`)];
  });
}

describe('the list of endpoints', () => {
  it('contains the endpoints of the contract in order, then those without a number', () => {
    expect(rows.map(({ endpoint = 0, method, path }) => `${endpoint} ${method} ${path}`)).toEqual(
      specified.map(({ number, method, path }) => `${number} ${method} ${path}`),
    );
  });

  it('contains every route that a file of a resource declares, named after the file and the route', async () => {
    const folder = join(import.meta.dirname, '../../shared/endpoints');
    const declared = new Map<unknown, string>();
    for (const file of readdirSync(folder).filter((each) => each !== 'endpoints.ts')) {
      const exported = Object.entries((await import(join(folder, file))) as Record<string, Partial<Route>>);
      const named = (name: string) =>
        name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replace(/(-by-get)?-route$/, '');
      for (const [name, each] of exported) if (each.method) declared.set(each, `${file.replace(/\.ts$/, '')}/${named(name)}`);
    }
    expect(new Set(declared.keys())).toEqual(new Set(rows));
    // The statement about a result has the schema of evidence, which the bundles of the functions that change results leave out.
    const elsewhere: Record<string, string> = { 'results/get-result': 'evidence/get-result' };
    for (const route of rows) expect(declared.get(route)).toBe(elsewhere[route.name] ?? route.name);
  });

  it('contains exactly the operations of the OpenAPI document', () => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => nameOf({ method: method.toUpperCase(), path })),
    );
    const withoutPlus = rows.map((route) => nameOf(route).replace('+}', '}')); // OpenAPI has no parameter with slashes
    expect(documented.sort()).toEqual(withoutPlus.sort());
  });

  it('names an existing function for each endpoint, and includes every function of an endpoint', () => {
    const folder = join(import.meta.dirname, '../../functions');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const ofEndpoints = files
      .map((file) => file.replace(/\.ts$/, ''))
      .filter(
        (name) => !/^(lifecycle|maintenance|operations|reference)\//.test(name) && !tasks.some((task) => task.name === name),
      );
    expect(ofEndpoints.sort()).toEqual([...new Set(rows.map((route) => route.name))].sort());
  });
});

describe('the OpenAPI document', () => {
  it('has the given version, and only values that JSON can represent', () => {
    expect(document.info.version).toBe('1.2.3');
    expect(openapiDocument('1.2.3')).toStrictEqual(document);
  });

  it('names the schema of every JSON body, and every object in the named schemas', () => {
    const unnamed = operations.flatMap(({ route, operation }) => {
      const bodies = [operation.requestBody?.content, operation.responses[200]?.content, operation.responses[201]?.content];
      const schemas = bodies.flatMap((content): Schema[] =>
        content?.['application/json'] ? [content['application/json'].schema] : [],
      );
      return schemas.every((schema) => '$ref' in schema) ? [] : [route.name];
    });
    expect(unnamed).toEqual([]);
    const inner = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      Object.values(schema).flatMap((part) => (unnamedObjects(part) > 0 ? [name] : [])),
    );
    expect(inner).toEqual(['AssetUpload']); // its headers are a map
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([
        'Asset',
        'Command',
        'Computation',
        'Event',
        'Manifest',
        'MissingItems',
        'Problem',
        'Report',
        'Run',
      ]),
    );
  });

  it('gives every operation a unique operationId', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(rows.length);
  });

  it.each(operations)('documents the access and the parameters of $route.method $route.path', ({ route, operation }) => {
    expect(operation.summary).not.toBe('');
    if (route.access)
      expect(operation.description).toMatch(
        /Requires (?:the permission `\w+` \(roles: \w+|being (?:the owner of the computation|the creator of the asset|a reviewer of results))/,
      );
    else expect(operation.security).toEqual([]);
    const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
    expect(inPath.map((parameter) => parameter.name)).toEqual([...route.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name));
    expect(inPath.every((parameter) => parameter.required && parameter.description)).toBe(true);
    for (const parameter of operation.parameters) expect([parameter.name, parameter.description]).not.toContain(undefined);
  });

  it.each([
    ['stop-run', 'being the owner of the computation or the creator of an asset in it'],
    [
      'approve',
      'being the owner of the computation, the creator of an asset in it, a result consumer, a provider whom the computation names (to refuse) or a reviewer of results',
    ],
    ['link-asset', 'being the creator of the asset or the owner of the computation'],
  ])('says of whom and of what the caller of %s must be the owner or the creator', (name, words) => {
    const { operation } = operations.find(({ route }) => route.name.endsWith(`/${name}`)) ?? {};
    expect(operation?.description).toContain(`${words}.`);
  });

  it.each(operations)('documents Idempotency-Key if $route.method $route.path takes one', ({ route, operation }) => {
    const takes = route.method !== 'GET' && route.endpoint !== 12 && route.endpoint !== 26 && !isOfKbs(route) && !route.isForm;
    const header = operation.parameters.find(({ name }) => name === 'Idempotency-Key');
    const [success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? [''];
    expect([
      header?.in === 'header' && !header.required,
      'idempotent-replayed' in (operation.responses[success]?.headers ?? {}),
      operation.responses[422]?.description.includes('`idempotency_mismatch`') ?? false,
    ]).toEqual([takes, takes, takes]);
  });

  it('documents the ETag, If-Match with 412, and If-None-Match with 304 of the endpoints that have them', () => {
    const documented = operations.flatMap(({ route, operation }) => {
      const headers = operation.parameters
        .filter(({ in: place, name }) => place === 'header' && name !== 'Idempotency-Key')
        .map(({ name }) => name);
      const etags = Object.entries(operation.responses).filter(([, { headers: own = {} }]) => 'ETag' in own);
      const failures = Object.keys(operation.responses).filter((status) => status === '412');
      const found = [...headers, ...etags.map(([status]) => `ETag on ${status}`), ...failures];
      return found.length > 0 ? [[route.endpoint ?? nameOf(route), found.join(', ')]] : [];
    });
    expect(documented).toEqual([
      [1, 'ETag on 201'],
      [3, 'If-None-Match, ETag on 200, ETag on 304'],
      [4, 'If-Match, ETag on 200, 412'],
      [5, 'If-Match, 412'],
      [15, 'ETag on 201'],
      [17, 'If-None-Match, ETag on 200, ETag on 304'],
      [18, 'If-Match, ETag on 200, 412'],
      [19, 'If-Match, 412'],
      ['GET /{domainID}/cvms/{cvmID}', 'If-None-Match, ETag on 200, ETag on 304'],
      ['PUT /{domainID}/cvms/{cvmID}', 'If-Match, ETag on 200, ETag on 201, 412'],
      ['DELETE /{domainID}/cvms/{cvmID}', 'If-Match, 412'],
    ]);
  });

  it.each(operations)('has valid examples for the request and the success of $route.method $route.path', ({ operation }) => {
    const sent = Object.values(operation.requestBody?.content ?? {});
    const answered = Object.values(operation.responses).flatMap(({ content = {} }) => Object.values(content));
    for (const media of [...sent, ...answered]) expectExampleFits(media);
    const [success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? [''];
    if (success !== '204') expect(Object.values(operation.responses[success]?.content ?? {})[0]).toHaveProperty('example');
    for (const media of sent) expect(media).toHaveProperty('example');
  });

  it('has an example with its reason for each conflict, and with run_id, missing_items and errors where an error has them', () => {
    const withField = (field: string) => [...new Set(problems.filter(({ problem }) => field in problem).map(({ name }) => name))];
    expect(withField('errors')).toEqual(['invalid_request']);
    expect(withField('missing_items')).toEqual(['incomplete']);
    expect(withField('run_id').sort()).toEqual(['asset_in_use', 'cvm_busy', 'run_active']);
    expect(withField('reason').sort()).toEqual([...conflictReasons, ...refusalReasons].sort());
    for (const { name, problem } of problems) expect([problem['code'], problem['reason']]).toContain(name);
    const withoutReason = operations.filter(({ route }) => route.errors?.includes('conflict') && !route.reasons?.length);
    expect(withoutReason.map(({ route }) => route.name)).toEqual([]);
  });

  it('has examples of errors in the words of the service', () => {
    const lines = ['shared', 'functions'].flatMap((name) => {
      const folder = join(import.meta.dirname, '../..', name);
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /^(?!openapi).*\.ts$/.test(file));
      return files.flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
    });
    const sentences = lines.flatMap(sentencesIn);
    const quoted = problems.filter(({ name }) => name !== 'invalid_request' && name !== 'too_many_requests');
    const details = new Set(quoted.map(({ problem }) => String(problem['detail'])));
    expect([...details].filter((detail) => !sentences.some((sentence) => sentence.test(detail)))).toEqual([]);
  });

  it.each([
    ['assets/link-asset', 'file_name_taken', 'The computation already has'],
    ['assets/update-asset', 'file_name_taken', 'which the asset is linked to, already has'],
    ['computations/delete-computation', 'run_active', 'A run is active.'],
    ['cvms/delete-cvm', 'cvm_busy', 'A run holds the CVM'],
    ['evidence/get-evidence', 'run_active', 'Get its evidence after the run has ended.'],
    ['runs/start-run', 'cvm_busy', 'Another run holds the CVM'],
    ['runs/start-run', 'run_active', 'A run of this computation is active.'],
  ])('has an example of %s for %s in the words of that endpoint', (name, reason, words) => {
    const { operation } = operations.find(({ route }) => route.name === name) ?? {};
    const examples = operation?.responses['409']?.content?.['application/problem+json']?.examples ?? {};
    expect((examples[reason]?.value as { detail: string }).detail).toContain(words);
  });

  it('has no schema whose name begins with New, which generated Go declares as a function too', () => {
    expect(Object.keys(document.components.schemas).filter((name) => name.startsWith('New'))).toEqual([]);
  });

  it('has a server, a contact, and a description of every tag that it uses', () => {
    expect(document.servers).toEqual([expect.objectContaining({ url: '/' })]);
    expect(document.info.contact.name).not.toBe('');
    const used = new Set(operations.flatMap(({ operation }) => operation.tags));
    expect(document.tags.map(({ name }) => name).sort()).toEqual([...used].sort());
    for (const { description } of document.tags) expect(description).toMatch(/\.$/);
  });

  it('marks GET .../stop as deprecated, and nothing else', () => {
    const deprecated = operations.filter(({ operation }) => operation.deprecated);
    expect(deprecated.map(({ route }) => nameOf(route))).toEqual(['GET /{domainID}/computations/{id}/stop']);
  });

  it('has one parameter of each name in an operation, whatever its place, and says that `domainID` may be one of the query', () => {
    expect(document.info.description).toContain('the query parameter `domainID`');

    for (const { operation } of operations) {
      const names = operation.parameters.map(({ name }) => name.toLowerCase());
      expect(names).toEqual([...new Set(names)]);
    }
  });

  it('limits the length of every text and array and the size of every integer', () => {
    const unlimited = schemasIn(document).filter((schema) => {
      if (schema['type'] === 'string') return !['maxLength', 'enum', 'const'].some((limit) => limit in schema);
      if (schema['type'] === 'array') return !('maxItems' in schema);
      return schema['type'] === 'integer' && !('minimum' in schema && 'maximum' in schema && 'format' in schema);
    });
    expect(unlimited).toEqual([]);
  });

  it.each(operations)('documents 401, 429, 500 and the origin of CORS of $route.method $route.path', ({ route, operation }) => {
    const common = route.access ? ['401', '429', '500'] : ['429', '500'];
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(common));
    for (const { headers } of Object.values(operation.responses)) expect(headers).toHaveProperty('Access-Control-Allow-Origin');
  });

  it('refuses unknown fields in every object of a request, except those of the key broker protocol', () => {
    const strict = operations.filter(({ route }) => !isOfKbs(route));
    expect(operations.length - strict.length).toBe(3);
    const bodies = strict.flatMap(({ operation }) => Object.values(operation.requestBody?.content ?? {}));
    const objects = bodies.flatMap(({ schema }) => schemasIn(resolved(document, schema))).filter(({ type }) => type === 'object');
    expect(objects.length).toBeGreaterThan(10);
    expect(objects.filter((schema) => schema['additionalProperties'] !== false)).toEqual([]);
  });

  it('takes back in every PUT what the GET of the same path returns', () => {
    const fieldsOf = (media: Record<string, Media> = {}) =>
      Object.values(media).flatMap(({ schema }) =>
        [resolved(document, schema)].flatMap((whole) => {
          const { oneOf, anyOf = oneOf ?? [whole] } = whole as { anyOf?: Schema[]; oneOf?: Schema[] };
          return anyOf.flatMap(({ properties = {} }) => {
            const { asset, ...others } = properties as Record<string, Schema>;
            return Object.keys(asset?.['properties'] ?? { ...others, ...(asset && { asset }) });
          });
        }),
      );
    const missing = operations.flatMap(({ route: { method, path }, operation }) => {
      const read = document.paths[path]?.['get'];
      if (method !== 'PUT' || !operation.requestBody || !read) return [];
      const taken = fieldsOf(operation.requestBody.content);
      const shown = fieldsOf(read.responses[200]?.content);
      expect([path, taken.length > 1, shown.length > 1]).toEqual([path, true, true]);
      return shown.filter((name) => !taken.includes(name)).map((name) => `${name} of ${path}`);
    });
    expect(missing).toEqual([]);
  });

  it('says with every 429 and 503 when to try again', () => {
    const statuses = operations.flatMap(({ operation }) => Object.entries(operation.responses));
    const tries = statuses.filter(([status]) => status === '429' || status === '503');
    expect(tries.length).toBeGreaterThan(50);
    for (const [, { headers }] of tries) expect(headers).toHaveProperty('Retry-After.schema.type', 'integer');
  });

  it('promises Retry-After with a 409 exactly where it may be log_pending', () => {
    const promising = operations.filter(({ operation }) => operation.responses['409']?.headers?.['Retry-After'] !== undefined);
    expect(promising.map(({ route }) => route.name).sort()).toEqual(['evidence/get-evidence', 'results/get-result']);
  });

  it('describes the secret of a link to unsubscribe, and the request that a release answers', () => {
    const inPath = (name: string) => {
      const { operation } = operations.find(({ route }) => route.name === name) ?? {};
      return (operation?.parameters as { name: string; description: string; schema: { pattern?: string } }[]).filter((each) =>
        ['secret', 'id'].includes(each.name),
      );
    };
    const [secret] = inPath('notifications/unsubscribe');
    const link = `d1.gbY32PzSxtpj.${'a'.repeat(43)}`;
    expect(link).toMatch(new RegExp(secret?.schema.pattern ?? '^$'));
    expect(inPath('releases/answer-release')[0]?.description).toBe('The identifier of the request for a key.');
  });

  it('documents the rate-limit headers of every success whose function limits changes', () => {
    const limited = new Set<string>(routes.map(({ name }) => name).filter((name) => variablesOf(name).includes('DOMAIN_BURST')));
    for (const { route, operation } of operations) {
      const headers = Object.keys(operation.responses[statusOf(route)]?.headers ?? {}).filter((name) => /^RateLimit/.test(name));
      expect([nameOf(route), headers.length]).toEqual([nameOf(route), limited.has(route.name) ? 2 : 0]);
    }
  });

  it('has no default that is an object, and a type for every constant', () => {
    const schemas = schemasIn(document);
    expect(schemas.filter((schema) => typeof schema['default'] === 'object')).toEqual([]);
    expect(schemas.filter((schema) => 'const' in schema && !('type' in schema))).toEqual([]);
  });

  it('has API Gateway’s own message as the example of each error that it answers itself', () => {
    const failures = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses).filter(([status]) => status >= '400'),
    );
    const examples = failures.flatMap(([status, { content = {} }]) => {
      const media = content['application/json'];
      return media ? [`${status} ${JSON.stringify(media.example)}`] : [];
    });
    expect([...new Set(examples)].sort()).toEqual([
      '401 {"message":"Unauthorized"}',
      '413 {"message":"Request Entity Too Large"}',
      '429 {"message":"Too Many Requests"}',
      '500 {"message":"Internal Server Error"}',
      '503 {"message":"Service Unavailable"}',
    ]);
  });

  it('has an example of 413 that says what the endpoint refuses', () => {
    const detailOf = (name: string) => {
      const { operation } = operations.find(({ route }) => route.name === name) ?? {};
      const media = operation?.responses['413']?.content?.['application/problem+json'];
      const examples = (media as { examples?: Record<string, { value: { detail: string } }> } | undefined)?.examples;
      return examples?.['too_large']?.value.detail;
    };
    expect(detailOf('assets/create-asset')).toContain(String(inlineLimitInBytes));
    expect(detailOf('assets/update-asset')).toContain('presigned');
    expect(detailOf('assets/link-asset')).toContain('100 datasets');
    expect(detailOf('approvals/approve')).toContain('The body has');
  });

  it.each(operations)(
    'has a request example that the handler of $route.method $route.path accepts',
    ({ route: { body, isForm }, operation }) => {
      const media = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
      const example = operation.requestBody?.content[media]?.example;
      expect(example === undefined).toBe(body === undefined);
      if (body) expect(() => parseInput(body, example, '')).not.toThrow();
    },
  );

  it('has schemas whose examples are valid', () => {
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

const validatorOf = compiledOnce((schema) => resolved(document, schema));

function expectExampleFits({ schema, example, examples = {} }: Media): void {
  const values = [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)];
  if (values.length === 0) return;
  const validate = validatorOf(schema);
  for (const value of values) {
    validate(value);
    expect(validate.errors ?? []).toEqual([]);
  }
}

/** Returns everything in the document that has the `type` of a schema. */
function schemasIn(node: unknown): Schema[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap(schemasIn);
  return 'type' in node && typeof node.type === 'string' ? [node, ...inner] : inner;
}

function unnamedObjects(node: unknown): number {
  return schemasIn(node).filter((schema) => schema['type'] === 'object').length;
}

function schemasWithExamples(node: unknown): Schema[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap(schemasWithExamples);
  return 'examples' in node && Array.isArray(node.examples) ? [node, ...inner] : inner;
}
