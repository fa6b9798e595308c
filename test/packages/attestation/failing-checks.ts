import type { Verdict } from 'computation-management-attestation';

/** The checks that failed by themselves, and not because of an earlier one. */
export function failingChecks({ checks }: Pick<Verdict, 'checks'>): string[] {
  return checks.filter(({ passed, detail }) => !passed && !detail.startsWith('not checked')).map(({ name }) => name);
}
