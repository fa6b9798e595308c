import { invalid } from '../errors.ts';

/**
 * Refuses a query parameter of the endpoint that was sent more than once. API Gateway joins its values with commas, which would be
 * one text for a filter such as `owner`, and a number that is not one for `limit`.
 * @throws ServiceError `invalid_request`
 */
export function refuseRepeatedParameter(rawQueryString: string | undefined, known: readonly string[]): void {
  const names = [...new URLSearchParams(rawQueryString).keys()];
  const repeated = known.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (repeated !== undefined) throw invalid(`query/${repeated}`, 'Expected this parameter once.');
}
