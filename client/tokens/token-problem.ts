import { AuthorizationResponseError, OperationProcessingError, ResponseBodyError } from 'oauth4webapi';
import { causeOf } from '../cause-of.ts';
import { ServiceProblem } from '../service-problem.ts';

/**
 * Asks an issuer. Errors become ServiceProblems: `unreachable` if there was no answer, `unauthenticated` if the issuer refused, and
 * `unexpected` if it answered something else.
 * @throws ServiceProblem; the signal's reason
 */
export async function asProblem<Answer>(
  request: string,
  signal: AbortSignal | undefined,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    signal?.throwIfAborted();
    throw problemOf(error, request);
  }
}

function problemOf(error: unknown, request: string): unknown {
  if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError) {
    const detail = `The issuer refused: ${error.error_description ?? error.error}`;
    const status = error instanceof ResponseBodyError && error.status >= 500 ? error.status : 401;
    return new ServiceProblem({ status, code: status === 401 ? 'unauthenticated' : 'unavailable', detail, request }, error);
  }
  if (error instanceof OperationProcessingError) {
    const status = error.cause instanceof Response ? error.cause.status : 200;
    const detail = `The issuer's answer is not as expected: ${error.message}`;
    return new ServiceProblem({ status, code: status >= 500 ? 'unavailable' : 'unexpected', detail, request }, error);
  }
  const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
  if (!(error instanceof TypeError) && !isTimeout) return error;
  const detail = `No answer from the issuer: ${causeOf(error)}`;
  return new ServiceProblem({ status: 0, code: 'unreachable', detail, request }, error);
}
