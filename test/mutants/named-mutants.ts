interface NamedMutant {
  /** Path from the root of the repository, with `/`. */
  file: string;
  /** Code that the file contains exactly once. */
  code: string;
  /** What takes its place. It must compile. */
  becomes: string;
  /** The behaviour that `becomes` breaks, as a sentence. Tests must notice it. */
  fact: string;
}

/**
 * Mutants that once survived. They run with every sample, and a run fails if one of them survives. If its code is gone, the run
 * fails until the entry names the code that keeps the fact today.
 */
export const namedMutants: NamedMutant[] = [
  {
    file: 'shared/access/caller.ts',
    code: 'ofDomain !== domain ||',
    becomes: 'ofDomain === undefined || !domain.startsWith(ofDomain) ||',
    fact: 'A member of the domain `d` is no member of `d1`.',
  },
  {
    file: 'shared/access/caller.ts',
    code: 'longestUserIdInBytes = 255',
    becomes: 'longestUserIdInBytes = 256',
    fact: 'A user identifier has at most 255 bytes.',
  },
  {
    file: 'shared/runs/sweep-runs.ts',
    code: 'claim.claimed_at > before',
    becomes: 'claim.claimed_at > now',
    fact: 'A claim within its grace period is not swept.',
  },
  {
    file: 'shared/runs/sweep-runs.ts',
    code: 'claim.claimed_at > before',
    becomes: 'claim.claimed_at >= before',
    fact: 'A claim is swept as soon as its grace period has passed.',
  },
  {
    file: 'shared/table/transaction.ts',
    code: 'if (error instanceof TransactionCanceledException) token = randomUUID();',
    becomes: '',
    fact: 'A cancelled transaction is retried under a new token.',
  },
  {
    file: 'shared/table/transaction.ts',
    code: 'if (error instanceof TransactionCanceledException) token = randomUUID();',
    becomes: 'token = randomUUID();',
    fact: 'A transaction in progress is retried under its own token.',
  },
  {
    file: 'shared/computations/statistics.ts',
    code: 'first: today - days + 1',
    becomes: 'first: today - days',
    fact: 'Statistics of n days start n - 1 days before today.',
  },
  {
    file: 'shared/keys/public-key.ts',
    code: 'minRsaBits = 2048',
    becomes: 'minRsaBits = 2047',
    fact: 'An RSA key of 2047 bits is refused.',
  },
  {
    file: 'shared/keys/public-key.ts',
    code: 'minRsaBits = 2048',
    becomes: 'minRsaBits = 2049',
    fact: 'An RSA key of 2048 bits is accepted.',
  },
  {
    file: 'shared/runs/list-commands.ts',
    code: 'command.expires_at > now',
    becomes: 'command.expires_at >= now',
    fact: 'A command is gone at the moment it expires.',
  },
  {
    file: 'shared/runs/list-commands.ts',
    code: '.filter((command) => command.expires_at > now)',
    becomes: '',
    fact: 'Expired commands are not listed.',
  },
  {
    file: 'shared/computations/change-computation.ts',
    code: 'AND version = :version',
    becomes: 'AND (version = :version OR NOT (version = :version))',
    fact: 'A run never starts from a computation that was changed while it was prepared.',
  },
  {
    file: 'shared/runs/claim.ts',
    code: "stillClaimed(claim, claim.outcome ? [] : ['outcome'])",
    becomes: 'stillClaimed(claim)',
    fact: 'An outcome that the CVM reports while the run is being ended decides how it ends.',
  },
  {
    file: 'shared/runs/record-lasting-reports.ts',
    code: 'if (claim && !change && isOfRun) assertClaimed(transaction, claim);',
    becomes: '',
    fact: 'An event that arrives while its run ends is recorded as a late one.',
  },
  {
    file: 'shared/computations/change-computation.ts',
    code: 'delete: { Key: keyToWrite(computationKey(domain, row.id)), ...unchanged(row) }',
    becomes: 'delete: { Key: keyToWrite(computationKey(domain, row.id)) }',
    fact: 'A computation is not deleted when a run has started while the deletion was prepared.',
  },
  {
    file: 'shared/lists/read-log.ts',
    code: 'if (missing.length === 0) return entries;',
    becomes: 'if (missing.length >= 0) return entries;',
    fact: 'A fold that sees the purge of a run has also seen how the run ended.',
  },
  {
    file: 'shared/lists/days.ts',
    code: ' && counts === days.before[day]',
    becomes: '',
    fact: 'A fold that dies leaves no counts in the statistics that are still in the log.',
  },
  {
    file: 'shared/lists/snapshot.ts',
    code: 'steadyTimeOf(clockOf(table)) - startedAt <= maxReadInMilliseconds',
    becomes: 'steadyTimeOf(clockOf(table)) >= startedAt',
    fact: 'A read of a list that took too long starts again.',
  },
  {
    file: 'shared/lists/unfolded.ts',
    code: 'step.version > version',
    becomes: 'step.version >= version',
    fact: 'A change that the trees contain is not counted again from the log.',
  },
];
