import { assetsOf, resultConsumers, type Inputs } from '../manifest/build-manifest.ts';

/** A user whose approval a run needs. */
export interface NeededApproval {
  user: string;
  /** The file names of the user's assets that need it, and `result consumer`. */
  because: string[];
}

const asConsumer = 'result consumer';

/**
 * Returns whose approval a run needs: the creators of assets whose use takes approval, or if the computation takes the approval
 * of all, the creators of all assets and the result consumers (docs/contract.md, section 9).
 */
export function neededApprovals(inputs: Inputs): NeededApproval[] {
  const isAll = inputs.computation.approval !== 'none';
  const because = new Map<string, string[]>();
  const add = (user: string, reason: string) => because.set(user, [...(because.get(user) ?? []), reason]);
  for (const { created_by, use, file_name } of assetsOf(inputs)) if (isAll || use === 'approval') add(created_by, file_name);
  if (isAll) for (const user of consumersOf(inputs)) add(user, asConsumer);
  return [...because].map(([user, reasons]) => ({ user, because: reasons }));
}

/** Returns the users of the result consumers. The owner is one also before uploading a key. */
function consumersOf(inputs: Inputs): Set<string> {
  return new Set([inputs.computation.owner, ...resultConsumers(inputs).map(({ user_id }) => user_id)]);
}

/** Returns sentences that name missing approvals. */
export function sentencesOf(missing: NeededApproval[]): string[] {
  return missing.flatMap(({ user, because }) =>
    because.map((reason) => `Approval of ${user} ${reason === asConsumer ? 'as' : 'for'} ${reason}`),
  );
}
