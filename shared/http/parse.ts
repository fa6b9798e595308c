import * as v from 'valibot';
import { invalidPlaces, type Violation, eitherOf, truncate, invalid } from '../runtime/errors.ts';

const mostViolations = 20;

/**
 * The configuration of all parsing of input. A text that is too long is not examined further: a regular expression could overflow
 * its stack on megabytes.
 */
const config = { abortPipeEarly: true };

/**
 * Parses a part of a request. Names unknown fields before missing ones, because a typing error causes both.
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

function isUnknown(issue: v.BaseIssue<unknown>): boolean {
  return issue.type === 'strict_object' && issue.expected === 'never';
}

function violationOf(issue: v.BaseIssue<unknown>, place: '' | 'query' | 'path', schema: v.GenericSchema): Violation {
  const pointer = place + (issue.path ?? []).map((item) => `/${escaped(truncate(String(item.key)))}`).join('');
  return { pointer, detail: isUnknown(issue) ? unknownIn(place, schema) : detailOf(issue) };
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Returns the text for an unknown field or parameter. It names the parameters of the endpoint, but not the fields of a body. */
export function unknownIn(place: '' | 'query' | 'path', schema: v.GenericSchema): string {
  if (place !== 'query') return 'Unknown field.';
  const names = parameterNames(schema);
  return names.length === 0 ? 'Unknown parameter. Expected none.' : `Unknown parameter. Expected ${eitherOf(names)}.`;
}

/** Returns the names of the query parameters in a schema. */
export function parameterNames(schema: v.GenericSchema): string[] {
  return 'entries' in schema ? Object.keys(schema.entries as v.ObjectEntries) : [];
}

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

/** Describes what a schema expected, in words. `("a" | "b")` is a choice of texts, `(Object | null)` one of types. */
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
 * Refuses a query with a repeated parameter. API Gateway joins the values of such a parameter with commas, so a filter would
 * compare with the joined text.
 * @param known the names of the endpoint's parameters. Others are refused as unknown
 * @throws ServiceError `invalid_request`
 */
export function refuseRepeatedParameter(rawQueryString: string | undefined, known: readonly string[]): void {
  const names = [...new URLSearchParams(rawQueryString).keys()];
  const repeated = known.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (repeated !== undefined) throw invalid(`query/${repeated}`, 'Expected this parameter once.');
}
