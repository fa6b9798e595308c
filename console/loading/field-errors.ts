import { ServiceProblem } from '../../client/index.ts';

/** Returns what the service says about one field of the request's body, such as `/name`. */
export function fieldError(problem: unknown, pointer: string): string | undefined {
  if (!(problem instanceof ServiceProblem)) return undefined;
  return problem.errors.find((error) => error.pointer === pointer || error.pointer.startsWith(`${pointer}/`))?.detail;
}
