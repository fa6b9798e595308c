import {
  AuthorizationResponseError,
  OperationProcessingError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import { causeOf } from '../cause-of.ts';
import { ServiceProblem } from '../service-problem.ts';

/**
 * Asks an issuer. Errors become ServiceProblems: `unreachable` if there was no answer, `unauthenticated` if the issuer refused,
 * `too_many_requests` or `unavailable` if it may answer otherwise later, and `unexpected` if it answered something else.
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
    const problem = await problemOf(error, request);
    signal?.throwIfAborted(); // it may have read the rest of an answer
    throw problem;
  }
}

async function problemOf(error: unknown, request: string): Promise<unknown> {
  if (error instanceof AuthorizationResponseError) return refusal(401, error.error_description ?? error.error, request, error);
  if (error instanceof ResponseBodyError) {
    return refusal(error.status, error.error_description ?? error.error, request, error);
  }
  if (error instanceof WWWAuthenticateChallengeError) return refusal(error.status, await reasonOf(error), request, error);
  if (error instanceof OperationProcessingError) {
    const status = error.cause instanceof Response ? error.cause.status : 200;
    const detail = `The issuer's answer is not as expected: ${error.message}`;
    return new ServiceProblem({ status, code: passingCode(status) ?? 'unexpected', detail, request }, error);
  }
  const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
  if (!(error instanceof TypeError) && !isTimeout) return error;
  const detail = `No answer from the issuer: ${causeOf(error)}`;
  return new ServiceProblem({ status: 0, code: 'unreachable', detail, request }, error);
}

function refusal(answered: number, reason: string, request: string, cause: Error): ServiceProblem {
  const code = passingCode(answered) ?? 'unauthenticated';
  const status = code === 'unauthenticated' ? 401 : answered;
  return new ServiceProblem({ status, code, detail: `The issuer refused: ${reason}`, request }, cause);
}

/** Returns the code of an answer after which a repeat may help. */
function passingCode(status: number): 'unavailable' | 'too_many_requests' | undefined {
  if (status === 429) return 'too_many_requests';
  return status >= 500 ? 'unavailable' : undefined;
}

/** Returns why an issuer refused that asks for authentication: what its challenge or its body says, or what it asks for. */
async function reasonOf({ cause, response }: WWWAuthenticateChallengeError): Promise<string> {
  const [challenge] = cause;
  const { error, error_description } = challenge?.parameters ?? {};
  const body = (await response.json().catch(() => null)) as { error?: unknown; error_description?: unknown } | null;
  const said = [error_description, body?.error_description, error, body?.error].find((each) => typeof each === 'string');
  return typeof said === 'string' ? said : `It asks for authentication (${challenge?.scheme ?? 'of no kind'}).`;
}
