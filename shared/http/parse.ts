import * as v from 'valibot';
import { invalidPlaces, type Violation, eitherOf, truncate, invalid, ServiceError } from '../runtime/errors.ts';

const mostViolations = 20;

/**
 * The configuration with which all input is parsed. Stops at the first failed check of a value: a text that is too long is not
 * examined further, because a regular expression could overflow its stack on megabytes.
 */
const config = { abortPipeEarly: true };

/**
 * Parses a part of a request by its schema. Names unknown fields before missing ones, because a typing error causes both.
 * @param place the part of the request: '' for the body, whose violations are JSON Pointers
 * @throws ServiceError `invalid_request` with up to 20 invalid places and what was expected there, never the input
 */
export function parseInput<S extends v.GenericSchema>(schema: S, input: unknown, place: '' | 'query' | 'path'): v.InferOutput<S> {
  const result = v.safeParse(schema, input, config);
  if (result.success) return result.output;
  const issues = [...result.issues].sort((a, b) => Number(isUnknown(b)) - Number(isUnknown(a)));
  const [first = result.issues[0], ...others] = issues.slice(0, mostViolations);
  const violation = (issue: v.BaseIssue<unknown>) => violationOf(issue, place, schema);
  throw invalidPlaces([violation(first), ...others.map(violation)]);
}

/**
 * Makes the schema for an entry of a batch. It parses each entry by itself, so that an invalid one does not refuse the others.
 * The OpenAPI document has the entry's own schema.
 * @param whenInvalid returns what stands for an invalid entry; `detail` says what was expected where in the entry, never the
 *   input
 */
/*#__NO_SIDE_EFFECTS__*/
export function entry<S extends v.GenericSchema, Invalid>(
  schema: S,
  whenInvalid: (given: unknown, detail: string) => Invalid,
): v.GenericSchema<v.InferInput<S>, v.InferOutput<S> | Invalid> {
  const run: v.GenericSchema<v.InferInput<S>, v.InferOutput<S> | Invalid>['~run'] = ({ value }) => {
    const result = v.safeParse(schema, value, config);
    if (result.success) return { typed: true, value: result.output };
    const { pointer, detail } = violationOf(result.issues[0], '', schema);
    return { typed: true, value: whenInvalid(value, pointer === '' ? detail : `${pointer}: ${detail}`) };
  };
  return { ...schema, '~run': run };
}

const isUnknown = (issue: v.BaseIssue<unknown>): boolean => issue.type === 'strict_object' && issue.expected === 'never';

function violationOf(issue: v.BaseIssue<unknown>, place: '' | 'query' | 'path', schema: v.GenericSchema): Violation {
  const pointer = place + (issue.path ?? []).map((item) => `/${escaped(truncate(String(item.key)))}`).join('');
  return { pointer, detail: isUnknown(issue) ? unknownIn(place, schema) : detailOf(issue) };
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/**
 * Returns the sentence of an error about an unknown field of a body or an unknown parameter. It names the parameters of the
 * endpoint, but not the fields of a body.
 */
export function unknownIn(place: '' | 'query' | 'path', schema: v.GenericSchema): string {
  if (place !== 'query') return 'Unknown field.';
  const names = parameterNames(schema);
  return names.length === 0 ? 'Unknown parameter. Expected none.' : `Unknown parameter. Expected ${eitherOf(names)}.`;
}

/** Returns the names of the query parameters in a schema. */
export const parameterNames = (schema: v.GenericSchema): string[] =>
  'entries' in schema ? Object.keys(schema.entries as v.ObjectEntries) : [];

function detailOf(issue: v.BaseIssue<unknown>): string {
  if (issue.received === 'undefined' && issue.path) return 'A value is required.';
  return issue.message.startsWith('Invalid ') ? `Expected ${described(issue.expected)}.` : issue.message;
}

const typeNames: Record<string, string> = {
  Array: 'an array',
  boolean: 'true or false',
  number: 'a number',
  Object: 'an object',
  string: 'a string',
};

/**
 * Returns in words what a schema expected of an invalid value. `("a" | "b")` becomes a choice of texts, `(Object | null)` a
 * choice of types.
 */
function described(expected: string | null): string {
  if (expected === null) return 'another value';
  const choice = /^\((.*)\)$/.exec(expected)?.[1];
  return eitherOf((choice?.split(' | ') ?? [expected]).map(inWords));
}

function inWords(expected: string): string {
  if (expected === '""') return 'an empty string';
  return typeNames[expected] ?? expected.replace(/^"(.*)"$/, '$1');
}

/**
 * Refuses a request whose query has a parameter twice. API Gateway joins the values of such a parameter with commas, so a filter
 * would compare with the joined text.
 * @param known the names of the endpoint's parameters. Other parameters are refused as unknown
 * @throws ServiceError `invalid_request`
 */
export function refuseRepeatedParameter(rawQueryString: string | undefined, known: readonly string[]): void {
  const names = [...new URLSearchParams(rawQueryString).keys()];
  const repeated = known.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (repeated !== undefined) throw invalid(`query/${repeated}`, 'Expected this parameter once.');
}

const defaultLimitInBytes = 256 * 1024;

/** The most levels of nesting in a body. No body of this API has more, and JSON.parse takes seconds for megabytes of brackets. */
const mostLevels = 32;

interface RawBody {
  headers: Record<string, string | undefined>;
  body?: unknown;
  isBase64Encoded: boolean;
}

/**
 * Returns the text of a request's body, which must be JSON.
 * @throws ServiceError `unsupported_media_type`, `too_large`; `invalid_request` for an empty body, invalid UTF-8 or deep nesting
 */
export function readBody({ headers, body, isBase64Encoded }: RawBody, limitInBytes = defaultLimitInBytes): string {
  const type = headers['content-type'];
  if (type && !/^application\/json[ \t]*(;|$)/i.test(type)) throw unsupported('Expected content-type: application/json.');
  if (!/^(identity)?$/i.test(headers['content-encoding'] ?? '')) throw unsupported('Expected a body without content-encoding.');
  if (typeof body !== 'string' || body === '') throw invalid('', 'Expected JSON.');
  const size = Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8');
  refuseLarger(size, limitInBytes);
  if (!type) throw unsupported('Expected content-type: application/json.');
  const text = isBase64Encoded ? decoded(body) : body;
  if (isDeeper(text, mostLevels)) throw invalid('', `Expected at most ${mostLevels} levels of nesting.`);
  return text;
}

/**
 * Refuses a body with more bytes than the limit.
 * @throws ServiceError `too_large`
 */
export function refuseLarger(size: number, limitInBytes = defaultLimitInBytes): void {
  if (size > limitInBytes) throw new ServiceError('too_large', `The body has ${size} bytes. The limit is ${limitInBytes} bytes.`);
}

/**
 * Returns the fields of a request's body, which must be a form, urlencoded or multipart.
 * @throws ServiceError `unsupported_media_type`, `too_large`; `invalid_request` for a field twice
 */
export function readForm({ headers, body, isBase64Encoded }: RawBody, limitInBytes?: number): object {
  const bytes = Buffer.from(typeof body === 'string' ? body : '', isBase64Encoded ? 'base64' : 'utf8');
  refuseLarger(bytes.length, limitInBytes);
  const type = headers['content-type'] ?? '';
  if (!/^(application\/x-www-form-urlencoded|multipart\/form-data)[ \t]*(;|$)/i.test(type)) {
    throw unsupported('Expected content-type: application/x-www-form-urlencoded or multipart/form-data.');
  }
  const boundary = /boundary="?([^";]+)/i.exec(type)?.[1];
  const fields = boundary === undefined ? [...new URLSearchParams(bytes.toString())] : fieldsIn(bytes.toString(), boundary);
  const given = new Map(fields);
  if (given.size < fields.length) throw invalid('', 'Expected each field once.');
  return Object.fromEntries(given);
}

/** Returns the fields of a multipart form (RFC 7578). */
function fieldsIn(form: string, boundary: string): [string, string][] {
  return form.split(`--${boundary}`).flatMap((part): [string, string][] => {
    const [, head = '', value = ''] = /^\r\n(.*?)\r\n\r\n(.*)\r\n$/s.exec(part) ?? [];
    const name = /[; ]name="([^"]*)"/i.exec(head)?.[1];
    return name === undefined ? [] : [[name, value]];
  });
}

const unsupported = (detail: string) => new ServiceError('unsupported_media_type', detail);

function decoded(base64: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    throw invalid('', 'Expected UTF-8.');
  }
}

function isDeeper(json: string, levels: number): boolean {
  let depth = 0;
  let isInText = false;
  for (let index = 0; index < json.length; index++) {
    const character = json[index];
    if (isInText) {
      if (character === '\\') index++;
      else if (character === '"') isInText = false;
    } else if (character === '"') isInText = true;
    else if (character === '[' || character === '{') depth++;
    else if (character === ']' || character === '}') depth--;
    if (depth > levels) return true;
  }
  return false;
}
