import type { MutantName } from './mutant.ts';

interface AcceptedMutant extends MutantName {
  /** Why no test should notice it. */
  reason: string;
}

/** Mutants that change nothing that matters. The report prints `before` and `after` of every survivor. */
export const acceptedMutants: AcceptedMutant[] = [
  {
    file: 'shared/events/read-segments.ts',
    before:
      'segments.every((segment, index) => index === 0 || segment.first_number === (segments[index - 1]?.last_number ?? 0) + 1) &&',
    after:
      'segments.every((segment, index) => index === 0 || segment.first_number === (segments[index - 1]?.last_number ?? 1) + 1) &&',
    reason: 'Behind the first segment there is always one before: the fallback is there for the types alone.',
  },
];
