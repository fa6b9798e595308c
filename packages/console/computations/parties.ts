import type { Schemas } from 'computation-management-client';

/** A user who takes part in a computation. */
export interface Party {
  user: string;
  /** Such as `owner` and `dataset penguins.csv`. */
  parts: string[];
  /** What a run still waits for from this user. */
  owes: string[];
}

interface Given {
  computation: Pick<Schemas['Computation'], 'owner' | 'consumers'>;
  /** The linked assets, with what is known of each. */
  inputs: readonly (Pick<Schemas['AssetOfComputation'], 'file_name' | 'asset_type'> &
    Partial<Pick<Schemas['AssetRow'], 'created_by' | 'state'>>)[];
  missing: Schemas['MissingItems'];
  approvals: Schemas['Approvals'];
}

/** What a run waits for: from which party, and what no party in particular owes. */
export interface Debts {
  parties: Party[];
  others: string[];
}

const resultConsumer = 'result consumer';

/** Returns who takes part in a computation, the owner first, and what each still owes before a run. */
export function partiesOf({ computation, inputs, missing, approvals }: Given): Debts {
  const parties = new Map<string, Party>();
  const party = (user: string) => {
    const known = parties.get(user) ?? { user, parts: [], owes: [] };
    parties.set(user, known);
    return known;
  };
  const takesPart = (user: string, part: string) => {
    const { parts } = party(user);
    if (!parts.includes(part)) parts.push(part);
  };

  takesPart(computation.owner, 'owner');
  for (const { created_by, asset_type, file_name } of inputs) {
    if (created_by !== undefined) takesPart(created_by, `${asset_type} ${file_name}`);
  }
  for (const user of computation.consumers) takesPart(user, resultConsumer);
  for (const { user, because } of approvals.needed) if (because.includes(resultConsumer)) takesPart(user, resultConsumer);

  const others = missing.info.filter((sentence) => !sentence.startsWith('Approval of '));
  for (const user of missing.keys) party(user).owes.push('public key');
  for (const file of missing.hashes) {
    const pending = inputs.filter(({ file_name, state, created_by }) => file_name === file && state === 'pending' && created_by);
    for (const { created_by } of pending) if (created_by !== undefined) party(created_by).owes.push(`content of ${file}`);
    if (pending.length === 0) others.push(`Content of ${file}`);
  }
  for (const { user, because } of missingApprovals(approvals)) {
    party(user).owes.push(
      because.includes(resultConsumer) && because.length === 1 ? 'approval' : `approval for ${because.join(', ')}`,
    );
  }
  return { parties: [...parties.values()], others };
}

/** Returns the approvals that a run needs and that are not there, or do not count. */
function missingApprovals({ needed, approvals }: Schemas['Approvals']): Schemas['NeededApproval'][] {
  const given = new Set(approvals.filter(({ stale }) => !stale).map(({ user }) => user));
  return needed.filter(({ user }) => !given.has(user));
}
