import { invalid } from '../errors.ts';

/**
 * Refuses a query parameter that was sent more than once. API Gateway joins its values with commas, so a filter such as `owner` would
 * compare with the joined text, and the error of `limit` would not name the repeat.
 * @param known the names of the endpoint's parameters. Others are refused as unknown
 * @throws ServiceError `invalid_request`
 */
export function refuseRepeatedParameter(rawQueryString: string | undefined, known: readonly string[]): void {
  const names = [...new URLSearchParams(rawQueryString).keys()];
  const repeated = known.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (repeated !== undefined) throw invalid(`query/${repeated}`, 'Expected this parameter once.');
}
