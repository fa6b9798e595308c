import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contracts } from '../../shared/openapi/contracts.ts';
import { routes, type Route } from '../../shared/routes.ts';
import { responseChecker, type CheckResponse } from '../support/check-response.ts';
import { openTarget, isDeployed, type Target } from '../support/target.ts';
import { openClient, type Client } from '../support/client.ts';
import { publicKey, base64 } from '../support/session.ts';

/** What a request is made of, before it is written onto the wire as it is. */
interface Request {
  path: Record<string, string>;
  query: [string, string][];
  headers: Record<string, string>;
  body: string | undefined;
  /** The pointers of the places that were spoilt. */
  spoilt: string[];
}

const rows = routes as readonly Route[];
const requestsPerRoute = 80;
const largeBodies = 2;

let target: Target;
let client: Client;
let check: CheckResponse;
let sent = 0;
const ids = { computation: '', asset: '', foreignComputation: '', foreignAsset: '', run: '' };

beforeAll(async () => {
  target = await openTarget();
  client = await openClient(target);
  check = responseChecker(client.document);
  const asset = { asset: { file_name: 'a.py', asset_type: 'algorithm', asset: base64('print(1)') } };
  const make = async (domainID: string, as: 'administrator' | 'outsider') => {
    const request = { path: { domainID }, as };
    const { id } = await client.done('computations/create-computation', { ...request, body: { name: 'N' } });
    const { id: assetId } = await client.done('assets/create-asset', { ...request, body: asset });
    return { id, assetId };
  };
  const foreign = await make(target.otherDomain, 'outsider');
  const own = await make(target.domain, 'administrator');
  const path = { id: own.id };
  await client.done('assets/link-asset', { path: { id: own.assetId, computationID: own.id } });
  await client.done('keys/upload-key', { path, body: { key: publicKey() } });
  ids.run = await client.done('runs/start-run', { path, query: { cvm: 'cvm-1' } });
  Object.assign(ids, { computation: own.id, asset: own.assetId, foreignComputation: foreign.id, foreignAsset: foreign.assetId });
});

afterAll(async () => {
  process.stdout.write(`${sent} requests of nonsense were answered.\n`);
  await target.stop();
});

const nastyTexts = [
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '../../etc/passwd',
    '..',
    '.',
    '%2e%2e%2f',
    'a/b',
    'a\\b',
    "'; DROP TABLE x; --",
    '{{7*7}}',
    '${jndi:x}',
  ],
  ...['😀👩‍👩‍👧‍👦🏳️‍🌈', '\ud800', 'a\udc00b', '\u202eevil\u202c', 'שלום עולם', 'مرحبا', '\ufeff', '\u2028', 'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍', '\r\nx: y', '\x1b[31m'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'null',
    'undefined',
    'NaN',
    'true',
    '-1',
    '1e309',
    '0x10',
    '９',
    '#',
    '?',
    '&',
    '=',
    '+',
    '%',
    '%zz',
  ],
  ...['x'.repeat(70), 'é'.repeat(300), '😀'.repeat(5_000), '<script>alert(1)</script>', 'SELECT#1', 'computation#x', '*', '|'],
];
const nastyText = fc.oneof(
  fc.constantFrom(...nastyTexts),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);

const nastyNumbers = [0, -0, -1, 101, 1e21, 1e308, -1e308, 2 ** 53, 0.1, Number.MIN_VALUE];
const nastyJson: fc.Arbitrary<unknown> = fc.oneof(
  nastyText,
  fc.constantFrom(...nastyNumbers, null, true, false, [], {}, [[]], [null], { length: 1 }, { toString: 1 }, { then: 1 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Bodies that are no JSON, or no object, or one of a kind that parsers stumble over. */
const brokenBodies = [
  ...[
    '',
    ' ',
    '{',
    '}',
    '[]',
    '""',
    'null',
    'true',
    '0',
    'NaN',
    '{"name":}',
    "{'name':'x'}",
    '{"name":"x"',
    '{"name":"x"}}',
    '\ufeff{}',
    '\0',
  ],
  ...[
    '{"__proto__":{"admin":true},"name":"x"}',
    '{"constructor":{"prototype":{"x":1}},"name":"x"}',
    '{"name":"x","name":5}',
    '{"a":1e999}',
  ],
  ...[
    '['.repeat(20_000),
    '{"a":'.repeat(20_000),
    `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
    `{"name":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}}`,
  ],
  ...['name=x&b=c', '<a/>', '--x\r\nContent-Disposition: form-data\r\n\r\n', '{"name":"\ud800"}', '"\\ud800"', '{"\\u0000":1}'],
];

const contentTypes = [
  ...[
    '',
    'application/json; charset=latin1',
    'APPLICATION/JSON',
    'application/problem+json',
    'text/plain',
    'text/json',
    'application/xml',
  ],
  ...[
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    '*/*',
    'application/json,text/html',
    '😀',
    ';',
    'x'.repeat(2_000),
  ],
];

const oddHeaders = [
  ...[
    { accept: 'text/html' },
    { 'content-encoding': 'gzip' },
    { 'accept-encoding': 'br;q=NaN' },
    { 'x-forwarded-for': '../../' },
  ],
  ...[{ 'if-none-match': '*' }, { range: 'bytes=0-1' }, { cookie: 'a=b; __proto__=c' }, { 'x-http-method-override': 'DELETE' }],
  ...[
    { 'x-amz-date': 'x' },
    { 'x-request-id': '<script>' },
    { origin: 'null' },
    { host: 'evil.example' },
    { 'x-long': 'x'.repeat(5_000) },
  ],
];

/** A good body for each route that has one, to spoil. */
function goodBody(route: Route): Record<string, unknown> | undefined {
  switch (route.name) {
    case 'computations/create-computation':
    case 'computations/update-computation':
      return {
        ...{ name: 'N', description: 'D', owner: target.idOf('administrator') },
        agent_config: {
          log_level: 'info',
          cert_file: 'c',
          server_key: 'k',
          server_ca_file: '',
          client_ca_file: '',
          attested_tls: true,
        },
      };
    case 'assets/create-asset':
    case 'assets/update-asset':
      return {
        asset: {
          file_name: 'x',
          description: 'D',
          asset_type: 'algorithm',
          mime_type: 'text/csv',
          asset: 'YQ==',
          user_key: '',
          checksum: undefined,
        },
      };
    case 'keys/upload-key':
      return { key: publicKey() };
    case 'cvms/report': {
      const base = { id: '1', run_id: ids.run };
      return {
        reports: [
          {
            ...base,
            type: 'event',
            event_type: 'Running',
            status: 'InProgress',
            details: 'e30=',
            originator: 'agent',
            occurred_at: '2025-07-17T08:00:00Z',
          },
          { ...base, id: '2', type: 'accepted', command_id: 'x', reason: '' },
        ],
      };
    }
    default:
      return undefined;
  }
}

const queriesOf: Record<string, string[]> = {
  'computations/list-computations': ['limit', 'offset', 'status'],
  'computations/get-computation': ['peek'],
  'runs/start-run': ['cvm'],
  'runs/get-run': ['run'],
  'runs/list-runs': ['limit', 'offset'],
  'statistics/get-statistics': ['days'],
  'runs/get-manifest': ['run'],
  'assets/list-assets': ['limit', 'offset', 'asset_type'],
  'assets/list-linked-computations': ['limit', 'offset'],
  'events/list-events': ['limit', 'offset', 'from', 'to', 'status', 'event_type', 'run_id', 'cvm_id', 'originator'],
};

type Spoil = (request: Request) => Request;

/** The places inside a body: pointers, with a function that puts something there. */
function placesOf(value: unknown, pointer = ''): { pointer: string; put: (root: unknown, what: unknown) => unknown }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    {
      pointer: `${pointer}/${key}`,
      put: (root: unknown, what: unknown) => replaced(root, [...pointer.split('/').slice(1), key], what),
    },
    ...placesOf(inner, `${pointer}/${key}`),
  ]);
}

function replaced(node: unknown, [key = '', ...rest]: string[], what: unknown): unknown {
  const value = rest.length === 0 ? what : replaced((node as Record<string, unknown>)[key], rest, what);
  if (Array.isArray(node)) return node.map((inner: unknown, index) => (String(index) === key ? value : inner));
  return { ...(node as object), [key]: value };
}

function spoils(route: Route): fc.Arbitrary<Spoil>[] {
  const good = goodBody(route);
  const pathNames = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const set =
    (change: Partial<Request> | ((request: Request) => Partial<Request>)): Spoil =>
    (request) => ({
      ...request,
      ...(typeof change === 'function' ? change(request) : change),
    });
  const inPath = (name: string, value: string) =>
    set(({ path, spoilt }) => ({ path: { ...path, [name]: value }, spoilt: [...spoilt, `path/${name}`] }));
  const inQuery = (name: string, value: string) =>
    set(({ query, spoilt }) => ({ query: [...query, [name, value]], spoilt: [...spoilt, `query/${name}`] }));
  const knownQueries = [...(queriesOf[route.name] ?? []), 'domainID', 'unknown', '__proto__'];
  return [
    ...(pathNames.length === 0
      ? []
      : [
          fc.tuple(fc.constantFrom(...pathNames), nastyText).map(([name, text]) => inPath(name, encode(text))),
          fc
            .tuple(
              fc.constantFrom(...pathNames),
              fc.constantFrom('..', '%2e%2e', '%2F', '..%2f..%2f', '%00', '%', '%zz', '%ff', '%c0%ae', ';x', '*', ''),
            )
            .map(([name, raw]) => inPath(name, raw)),
          fc
            .constantFrom(
              'foreignComputation' as const,
              'foreignAsset' as const,
              'asset' as const,
              'computation' as const,
              'run' as const,
            )
            .map((thing) =>
              set(({ path }) => ({
                path: {
                  ...path,
                  ...('id' in path ? { id: ids[thing] } : {}),
                  ...('computationID' in path ? { computationID: ids[thing] } : {}),
                },
              })),
            ),
          fc.constant(set(({ path }) => ({ path: { ...path, domainID: target.otherDomain } }))),
        ]),
    fc.tuple(fc.constantFrom(...knownQueries), nastyText).map(([name, text]) => inQuery(name, encode(text))),
    fc
      .tuple(fc.constantFrom(...knownQueries), fc.constantFrom('1', '%', '%ff', '-1', 'NaN', '1e9', '999999999999999999'))
      .map(([name, raw]) => inQuery(name, raw)),
    fc.constantFrom(...knownQueries).map((name) => (request: Request) => inQuery(name, '1')(inQuery(name, '2')(request))),
    nastyText.map((name) => inQuery(encode(name), 'x')),
    fc
      .constantFrom(...oddHeaders)
      .map((headers) => set((request) => ({ headers: { ...request.headers, ...(headers as Record<string, string>) } }))),
    ...(good === undefined
      ? [nastyText.map((text) => set({ body: text }))]
      : [
          fc.tuple(fc.constantFrom(...placesOf(good)), nastyJson).map(([{ pointer, put }, value]) =>
            set(({ body, spoilt }) => {
              const parsed = parsedOr(body, good);
              return { body: JSON.stringify(put(parsed, value)), spoilt: [...spoilt, pointer] };
            }),
          ),
          fc
            .tuple(nastyText, nastyJson)
            .map(([name, value]) => set(({ body }) => ({ body: JSON.stringify({ ...parsedOr(body, good), [name]: value }) }))),
          fc.constantFrom(...brokenBodies).map((body) => set({ body })),
          nastyJson.map((value) => set({ body: JSON.stringify(value) })),
          fc
            .constantFrom(...contentTypes)
            .map((type) => set(({ headers }) => ({ headers: { ...headers, 'content-type': type } }))),
        ]),
  ];
}

function parsedOr(body: string | undefined, good: Record<string, unknown>): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(body ?? '');
    return typeof parsed === 'object' && parsed !== null && Object.keys(good).every((key) => key in parsed) ? { ...good } : good;
  } catch {
    return good;
  }
}

/** Percent-encoding that lone surrogates do not stop; no longer than API Gateway takes an address. */
const encode = (text: string) => encodeURIComponent(text.slice(0, 300).toWellFormed());

function goodRequest(route: Route): Request {
  const isAsset = route.path.startsWith('/{domainID}/assets/');
  const body = goodBody(route);
  return {
    path: {
      ...{ domainID: target.domain, cvmID: 'cvm-1' },
      ...(route.path.includes('{id}') ? { id: isAsset ? ids.asset : ids.computation } : {}),
      ...(route.path.includes('{computationID}') ? { computationID: ids.computation } : {}),
    },
    query: [],
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
    spoilt: [],
  };
}

/** Sends a request as it stands: `fetch` would tidy the path. */
function transmit(route: Route, { path, query, headers, body }: Request, token: string) {
  const address = route.path.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? '');
  const search = query.map(([name, value]) => `${name}=${value}`).join('&');
  const { hostname, port } = new URL(target.baseUrl);
  const wire = body === undefined ? undefined : Buffer.from(body);
  return new Promise<{ status: number; headers: Headers; text: string }>((resolve, reject) => {
    const outgoing = httpRequest({
      ...{ hostname, port, method: route.method, path: `${address}${search ? `?${search}` : ''}` },
      headers: {
        authorization: `Bearer ${token}`,
        ...(wire ? { 'content-length': wire.length } : {}),
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString('latin1')])),
      },
    });
    outgoing.once('error', reject).once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('error', reject).once('end', () => {
        const answered = new Headers(
          Object.entries(response.headersDistinct).map(([name, values]) => [name, (values ?? []).join()] as [string, string]),
        );
        resolve({ status: response.statusCode ?? 0, headers: answered, text });
      });
    });
    outgoing.end(wire);
  });
}

/** What API Gateway says by itself: no such route, a path that it cannot decode, more than it or Lambda takes. */
const byGateway = ['Not Found', 'Bad Request', 'Request Entity Too Large'];

async function expectAnAnswer(route: Route, request: Request): Promise<void> {
  const token = target.tokenOf(route.access?.anyOf[0] === 'operate_cvm' ? 'cvm' : 'administrator');
  const answer = await transmit(route, request, token);
  sent++;
  expect(answer.status, answer.text).toBeLessThan(500);
  if (answer.headers.get('content-type') === 'application/json' && answer.status >= 400) {
    expect(byGateway).toContain((JSON.parse(answer.text) as { message: string }).message);
    return;
  }
  // A segment that is spoilt may lead to another route, `runs` in the place of an identifier for one.
  const wentElsewhere = request.spoilt.some((place) => place.startsWith('path/')) && answer.status < 400;
  if (!wentElsewhere) check(route.method, route.path, answer);
}

describe.skipIf(isDeployed)('nonsense', () => {
  it.each(rows)(
    `is answered with what it did wrong, never with a 5xx: ${requestsPerRoute} requests to $method $path`,
    async (route) => {
      const spoil = fc.oneof(...spoils(route));
      const property = fc.asyncProperty(fc.array(spoil, { minLength: 1, maxLength: 3 }), async (changes) => {
        const request = changes.reduce((spoilt, change) => change(spoilt), goodRequest(route));
        await expectAnAnswer(route, request).catch((error: unknown) => {
          throw new Error(`${route.method} ${JSON.stringify(request).slice(0, 2_000)}`, { cause: error });
        });
      });
      await fc.assert(property, { numRuns: requestsPerRoute });
    },
    60_000,
  );

  it.each(rows.filter((route) => 'body' in contracts[route.name as keyof typeof contracts]))(
    'in one field names that field: $method $path',
    async (route) => {
      for (const { pointer, put } of placesOf(goodBody(route))) {
        const body = JSON.stringify(put(goodBody(route), { nonsense: [{}] }));
        const { status, text } = await transmit(
          route,
          { ...goodRequest(route), body },
          target.tokenOf(route.name === 'cvms/report' ? 'cvm' : 'administrator'),
        );
        sent++;
        const { errors = [] } = JSON.parse(text) as { errors?: { pointer: string }[] };
        expect([pointer, status]).toEqual([pointer, 400]);
        expect(errors.map((error) => error.pointer).some((place) => place.startsWith(pointer) || pointer.startsWith(place))).toBe(
          true,
        );
      }
    },
  );

  it.each(rows.filter((route) => 'body' in contracts[route.name as keyof typeof contracts]))(
    'of 5 MB is answered: $method $path',
    async (route) => {
      for (const body of [`{"name":"${'x'.repeat(5e6)}"}`, 'x'.repeat(5e6)].slice(0, largeBodies)) {
        await expectAnAnswer(route, { ...goodRequest(route), body });
      }
    },
  );

  it('that is taken is kept as it is', async () => {
    await fc.assert(
      fc.asyncProperty(nastyText, nastyText, async (name, description) => {
        const { status, body } = await client.call('computations/create-computation', { body: { name, description } });
        sent++;
        if (status === 400) return;
        const { id } = body as { id: string };
        expect(await client.done('computations/get-computation', { path: { id } })).toMatchObject({ name, description });
      }),
      { numRuns: 60 },
    );
  });

  it('came in at least 2,000 requests', () => {
    expect(sent).toBeGreaterThanOrEqual(2_000);
  });
});
