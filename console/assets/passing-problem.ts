import { ServiceProblem } from '../../client/index.ts';

/**
 * Returns a problem that may pass: no connection, too many requests, or a fault of the service. For the `catch` of what is repeated.
 * @throws any other error
 */
export function passingProblem(error: unknown): ServiceProblem {
  if (error instanceof ServiceProblem && (error.status === 0 || error.status === 429 || error.status >= 500)) return error;
  throw error;
}
