import { invalid } from '../errors.ts';

/**
 * Refuses a query parameter that was sent more than once. API Gateway joins its values with commas, which would be one text for a
 * filter such as `owner`. Names of parameters must have been checked before.
 * @throws ServiceError `invalid_request`
 */
export function refuseRepeatedParameter(rawQueryString: string | undefined): void {
  const names = [...new URLSearchParams(rawQueryString).keys()];
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw invalid(`query/${repeated}`, `Expected the query parameter ${repeated} once.`);
}
