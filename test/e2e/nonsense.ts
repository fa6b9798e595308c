import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import type { Route } from '../../shared/http/route.ts';
import type { HttpAnswer } from '../support/openapi-document.ts';

/** A change that spoils a request. */
type Spoil =
  | { path: string; raw: string }
  | { query: string; raw: string }
  | { headers: Record<string, string> }
  | { body: string }
  /** Sets the value at a JSON Pointer. */
  | { pointer: string; value: unknown };

const oddSegments = ['..', '%2e%2e', '%2F', '..%2f..%2f', '%00', '%', '%zz', '%ff', '%c0%ae', ';x', '*', ''];
const oddValues = ['1', '%', '%ff', '-1', 'NaN', '1e9', '999999999999999999'];

/** A valid request and the material for its changes. */
export interface Spoilable {
  request: RawRequest;
  /** The query parameters of the route. */
  parameters: string[];
  /** Identifiers that exist in this domain, in another domain, or for another resource. */
  identifiers: string[];
}

/** Generates requests that differ from a valid one by one to three changes. */
export function spoilt({ request, parameters, identifiers }: Spoilable): fc.Arbitrary<RawRequest> {
  const inPath = Object.keys(request.path);
  const query = fc.constantFrom(...parameters, 'domainID', 'unknown', '__proto__');
  const pointers = request.body === undefined ? [] : pointersOf(JSON.parse(request.body));
  const ways: fc.Arbitrary<Spoil>[] = [
    fc.record({ query, raw: fc.oneof(nastyText.map(encode), fc.constantFrom(...oddValues)) }),
    fc.record({ query: nastyText.map(encode), raw: fc.constant('x') }),
    fc.record({ headers: fc.constantFrom(...oddHeaders) }),
    fc.record({ body: fc.oneof(nastyText, fc.constantFrom(...brokenBodies), nastyJson.map(json)) }),
  ];
  if (inPath.length > 0) {
    const raw = fc.oneof(nastyText.map(encode), fc.constantFrom(...oddSegments), fc.constantFrom(...identifiers));
    ways.push(fc.record({ path: fc.constantFrom(...inPath), raw }));
  }
  if (pointers.length > 0) {
    const unknown = nastyText.map((name) => `/${escaped(name)}`);
    ways.push(fc.record({ pointer: fc.oneof(fc.constantFrom(...pointers), unknown), value: nastyJson }));
    ways.push(fc.record({ headers: fc.record({ 'content-type': fc.constantFrom(...contentTypes) }) }));
  }
  return fc.array(fc.oneof(...ways), { minLength: 1, maxLength: 3 }).map((spoils) => spoils.reduce(spoil, request));
}

function spoil(request: RawRequest, what: Spoil): RawRequest {
  if ('path' in what) return { ...request, path: { ...request.path, [what.path]: what.raw } };
  if ('query' in what) return { ...request, query: [...request.query, [what.query, what.raw]] };
  if ('headers' in what) return { ...request, headers: { ...request.headers, ...what.headers } };
  if ('body' in what) return { ...request, body: what.body };
  return { ...request, body: withValueAt(request.body, what.pointer, what.value) };
}

/** Returns the JSON Pointers of every place inside a JSON value. */
export function pointersOf(value: unknown, before = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const pointer = `${before}/${escaped(key)}`;
    return [pointer, ...pointersOf(inner, pointer)];
  });
}

/** Returns the JSON text with another value at a place. Unchanged if there is no such place. */
export function withValueAt(text: string | undefined, pointer: string, value: unknown): string | undefined {
  try {
    const keys = pointer
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    return json(replaced(JSON.parse(text ?? ''), keys, value));
  } catch {
    return text;
  }
}

function replaced(node: unknown, [key = '', ...rest]: string[], value: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  const inner = rest.length === 0 ? value : replaced((node as Record<string, unknown>)[key], rest, value);
  if (Array.isArray(node)) return node.map((entry: unknown, index) => (String(index) === key ? inner : entry));
  return Object.fromEntries([...Object.entries(node).filter(([name]) => name !== key), [key, inner]]);
}

const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
const json = (value: unknown) => JSON.stringify(value);

/** Percent-encodes text, even with lone surrogates, and cuts it to the length that API Gateway accepts. */
export const encode = (text: string) => encodeURIComponent(text.slice(0, 1_500).toWellFormed());

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
/** Text that may cause problems for storage, parsers, addresses or people. */
export const nastyText = fc.oneof(
  fc.constantFrom(...nastyTexts),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);

const nastyNumbers = [0, -0, -1, 101, 1e21, 1e308, -1e308, 2 ** 53, 0.1, Number.MIN_VALUE];
/** Values of every type, hardly any of them valid. */
const nastyJson: fc.Arbitrary<unknown> = fc.oneof(
  nastyText,
  fc.constantFrom(...nastyNumbers, null, true, false, [], {}, [[]], [null], { length: 1 }, { toString: 1 }, { then: 1 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Bodies that are not JSON, not an object, or difficult for parsers. */
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

const oddHeaders: Record<string, string>[] = [
  ...[
    { accept: 'text/html' },
    { 'content-encoding': 'gzip' },
    { 'accept-encoding': 'br;q=NaN' },
    { 'x-forwarded-for': '../../' },
  ],
  ...[{ 'if-none-match': '*' }, { 'if-none-match': 'W/"""' }, { 'if-match': '"a", *' }, { 'if-match': '"é"' }],
  ...[{ range: 'bytes=0-1' }, { cookie: 'a=b; __proto__=c' }, { 'x-http-method-override': 'DELETE' }],
  ...[{ 'x-amz-date': 'x' }, { 'x-request-id': '<script>' }, { origin: 'null' }, { 'x-long': 'x'.repeat(5_000) }],
];

/** A request that is sent exactly as given: path and query are percent-encoded only if the caller has done so. */
export interface RawRequest {
  path: Record<string, string>;
  query: [string, string][];
  headers: Record<string, string>;
  body: string | undefined;
}

/** Sends a request exactly as given. `fetch` would normalize its path. */
export function sendRaw(baseUrl: string, route: Route, request: RawRequest, token: string): Promise<HttpAnswer> {
  const { path, query, headers, body } = request;
  const address = route.path.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? '');
  const search = query.map(([name, value]) => `${name}=${value}`).join('&');
  const { hostname, port } = new URL(baseUrl);
  const wire = body === undefined ? undefined : Buffer.from(body);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      hostname,
      port,
      method: route.method,
      path: `${address}${search ? `?${search}` : ''}`,
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
