import { invalid, type ServiceError } from '../errors.ts';
import { malformedAt } from './malformed-at.ts';

/** The error for a body that is not JSON. It says where, never what. Lines and columns begin at 1. */
export function malformedJson(text: string): ServiceError {
  const offset = malformedAt(text);
  const before = text.slice(0, offset).split('\n');
  const place = `line ${before.length}, column ${Array.from(before.at(-1) ?? '').length + 1}`;
  const problem = offset === text.length ? `The text ends too early, at ${place}` : `The error is at ${place}`;
  return invalid('', `Expected well-formed JSON. ${problem}.`);
}
