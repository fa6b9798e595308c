import type { MutantName } from './mutant.ts';

interface AcceptedMutant extends MutantName {
  /** Why no test should notice it. */
  reason: string;
}

/** Mutants that change nothing that matters. The report prints `before` and `after` of every survivor. */
export const acceptedMutants: AcceptedMutant[] = [];
