import { ServiceProblem } from 'computation-management-client';

const changes = {
  file_name_taken: 'The computation has a dataset of this name. Choose another name, or unlink that dataset first.',
  second_algorithm: 'The computation has an algorithm. Choose another type, or unlink that algorithm first.',
};

/** Whether the computation has no place for an asset of this name or type. */
export function hasNoPlace(problem: unknown): boolean {
  return problem instanceof ServiceProblem && (problem.code === 'conflict' || problem.code === 'too_large');
}

/** Returns what the user can change so that there is a place, if the problem has this reason. */
export function linkConflict(problem: unknown, reason: keyof typeof changes): string | undefined {
  return problem instanceof ServiceProblem && problem.reason === reason ? changes[reason] : undefined;
}
