import type { ServiceProblem } from 'computation-management-client';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { isTyped } from './typed-values.ts';

/** Returns the exit code of a command that ends with an error of the service. @param where the command that explains the command */
export function exitCodeOf(problem: ServiceProblem, where: { help: string }): ExitCode {
  switch (problem.code) {
    case 'unauthenticated':
      return exitCodes.notLoggedIn;
    case 'forbidden':
      return exitCodes.forbidden;
    case 'not_found':
      return exitCodes.notFound;
    case 'conflict':
    case 'precondition_failed':
      return exitCodes.conflict;
    case 'incomplete':
      return exitCodes.incomplete;
    case 'unreachable':
    case 'unavailable':
    case 'too_many_requests':
      return exitCodes.unavailable;
    case 'invalid_request':
      return isTyped(problem, where) ? exitCodes.usage : exitCodes.failure;
    case 'too_large':
    case 'unsupported_media_type':
    case 'idempotency_mismatch':
    case 'internal':
    case 'unexpected':
    default:
      return exitCodes.failure;
  }
}
