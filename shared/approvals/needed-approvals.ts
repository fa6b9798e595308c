import { assetsPerComputation } from '../computations/computation.ts';
import { assetsOf, resultConsumers, type Inputs } from '../manifest/build-manifest.ts';

/** A user whose approval a run needs. */
export interface NeededApproval {
  user: string;
  /** The names of the user's assets that need it. */
  files: string[];
  /** Whether the user must give it as a result consumer. */
  asConsumer: boolean;
}

/**
 * Returns the users whose approval a run needs: the creators of assets with `use: approval`. If the computation requires the
 * approval of all, the creators of all assets and the result consumers (docs/contract.md, section 9).
 */
export function neededApprovals(inputs: Inputs): NeededApproval[] {
  const isAll = inputs.computation.approval !== 'none';
  const assets = assetsOf(inputs).filter(({ use }) => isAll || use === 'approval');
  const consumers = isAll ? consumersOf(inputs) : new Set<string>();
  const users = new Set([...assets.map(({ created_by }) => created_by), ...consumers]);
  return [...users].map((user) => ({
    user,
    files: assets.filter(({ created_by }) => created_by === user).map(({ file_name }) => file_name),
    asConsumer: consumers.has(user),
  }));
}

/** Returns the users who are result consumers. The owner is one even before uploading a key. */
function consumersOf(inputs: Inputs): Set<string> {
  return new Set([inputs.computation.owner, ...resultConsumers(inputs).map(({ user_id }) => user_id)]);
}

const consumer = 'result consumer';
/** The longest `because`: all assets, and `result consumer`. */
export const mostReasons = assetsPerComputation + 1;

/** Returns the `because` of the API: the file names, and `result consumer`. A file with that name looks the same. */
export function becauseOf({ files, asConsumer }: NeededApproval): string[] {
  return asConsumer ? [...files, consumer] : files;
}

/** Returns sentences that name missing approvals. */
export function sentencesOf(missing: NeededApproval[]): string[] {
  return missing.flatMap(({ user, files, asConsumer }) => [
    ...files.map((file) => `Approval of ${user} for ${file}`),
    ...(asConsumer ? [`Approval of ${user} as ${consumer}`] : []),
  ]);
}
