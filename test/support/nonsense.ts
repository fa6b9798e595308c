import fc from 'fast-check';
import { brokenBodies, contentTypes, nastyJson, nastyText, oddHeaders } from './nonsense-values.ts';
import type { RawRequest } from './raw-request.ts';

/** One thing that is done to a request. */
type Spoil =
  | { path: string; raw: string }
  | { query: string; raw: string }
  | { headers: Record<string, string> }
  | { body: string }
  /** Puts a value at a JSON Pointer. */
  | { pointer: string; value: unknown };

const oddSegments = ['..', '%2e%2e', '%2F', '..%2f..%2f', '%00', '%', '%zz', '%ff', '%c0%ae', ';x', '*', ''];
const oddValues = ['1', '%', '%ff', '-1', 'NaN', '1e9', '999999999999999999'];

/** What can be done to a request to spoil it: one to three things at once. */
export interface Spoilable {
  request: RawRequest;
  /** The query parameters that the route knows. */
  parameters: string[];
  /** Identifiers that exist, here, elsewhere, or as something else. */
  identifiers: string[];
}

/** Requests made of a good one, with one to three things in it spoilt. */
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

/** Every place inside a JSON value, as JSON Pointers. */
export function pointersOf(value: unknown, before = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const pointer = `${before}/${escaped(key)}`;
    return [pointer, ...pointersOf(inner, pointer)];
  });
}

/** The JSON text with another value at a place; as it is where it has no such place. */
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

/** Percent-encoding that lone surrogates do not stop; no longer than API Gateway takes an address. */
const encode = (text: string) => encodeURIComponent(text.slice(0, 300).toWellFormed());
