import type { MutantName } from './mutant.ts';

interface NamedMutant extends Omit<MutantName, 'before' | 'after'> {
  /** Code that stands in the file exactly once, and what takes its place. */
  code: string;
  becomes: string;
  /** What the tests must notice. */
  fact: string;
}

/** Mutants that once survived: they run with every sample. One whose code is gone must be named anew. */
export const namedMutants: NamedMutant[] = [
  {
    file: 'shared/access/caller.ts',
    code: 'membership.slice(0, colon) === domain',
    becomes: 'domain.startsWith(membership.slice(0, colon))',
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
    file: 'shared/table/table.ts',
    code: 'if (error instanceof TransactionCanceledException) token = randomUUID();',
    becomes: '',
    fact: 'A cancelled transaction is retried under a new token.',
  },
  {
    file: 'shared/table/table.ts',
    code: 'if (error instanceof TransactionCanceledException) token = randomUUID();',
    becomes: 'token = randomUUID();',
    fact: 'A transaction in progress is retried under its own token.',
  },
  {
    file: 'shared/computations/statistics.ts',
    code: '(days - 1) * dayInMilliseconds',
    becomes: 'days * dayInMilliseconds',
    fact: 'Statistics of n days start n - 1 days before today.',
  },
  {
    file: 'shared/keys/public-key.ts',
    code: 'leastRsaBits = 2048',
    becomes: 'leastRsaBits = 2047',
    fact: 'An RSA key of 2047 bits is refused.',
  },
  {
    file: 'shared/keys/public-key.ts',
    code: 'leastRsaBits = 2048',
    becomes: 'leastRsaBits = 2049',
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
    file: 'shared/runs/start-run.ts',
    code: 'AND inputs_version = :inputs AND',
    becomes: 'AND (inputs_version = :inputs OR NOT (inputs_version = :inputs)) AND',
    fact: 'A run never starts from inputs that were changed while it was prepared.',
  },
  {
    file: 'shared/runs/start-run.ts',
    code: "AND version = :version'",
    becomes: "AND (version = :version OR NOT (version = :version))'",
    fact: 'A run never starts from a computation that was changed while it was prepared.',
  },
  {
    file: 'shared/runs/end-run.ts',
    code: "'run_id = :id AND attribute_not_exists(outcome)'",
    becomes: "'run_id = :id'",
    fact: 'An outcome that the CVM reports while the run is being ended decides how it ends.',
  },
  {
    file: 'shared/runs/record-reports.ts',
    code: 'claim && journal && !change ? [checkClaim(reference)] : []',
    becomes: '[] as Action[]',
    fact: 'An event that arrives while its run ends is recorded as a late one.',
  },
  {
    file: 'shared/deletion/delete-computation.ts',
    code: "'id = :id AND #status = :status'",
    becomes: "'id = :id AND (#status = :status OR NOT (#status = :status))'",
    fact: 'A computation is not deleted when a run has started while the deletion was prepared.',
  },
];
