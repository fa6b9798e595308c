import fc from 'fast-check';
import { brokenBodies, contentTypes, nastyJson, nastyText, oddHeaders } from './nonsense-values.ts';
import type { RawRequest } from './raw-request.ts';

/** One change to a request. */
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
const encode = (text: string) => encodeURIComponent(text.slice(0, 300).toWellFormed());
