import type { Schemas } from 'computation-management-client';
import type { Approved } from 'computation-management-formats/approval-text';

export type ApprovalState = 'missing' | 'given' | 'signed' | 'unsigned' | 'stale';

export interface ApprovalRow {
  user: string;
  /** Empty if the approval is not needed. */
  because: string[];
  state: ApprovalState;
  approval: Schemas['Approval'] | undefined;
}

type Policy = Schemas['Computation']['approval'];

/** Returns a row for each user whose approval is needed, then for each who gave one without need. */
export function approvalRows(policy: Policy, { needed, approvals }: Schemas['Approvals']): ApprovalRow[] {
  const neededUsers = new Set(needed.map(({ user }) => user));
  const unneeded = approvals.filter(({ user }) => !neededUsers.has(user)).map(({ user }) => ({ user, because: [] }));
  return [...needed, ...unneeded].map(({ user, because }) => {
    const approval = approvals.find((given) => given.user === user);
    return { user, because, state: stateOf(policy, approval), approval };
  });
}

function stateOf(policy: Policy, approval: Schemas['Approval'] | undefined): ApprovalState {
  if (!approval) return 'missing';
  if (policy === 'all_signed' && !approval.signed) return 'unsigned';
  if (approval.stale) return 'stale';
  return approval.signed ? 'signed' : 'given';
}

/** Whether the approval is there, and counts. */
export function isGiven({ state }: Pick<ApprovalRow, 'state'>): boolean {
  return state === 'given' || state === 'signed';
}

interface Parts {
  computation: Pick<Schemas['Computation'], 'owner' | 'consumers'>;
  inputs: readonly { created_by?: string | undefined }[];
  approvals: Schemas['Approvals'];
}

/**
 * Whether the API would take an approval of this user. Users who became result consumers by uploading a key are known only if their
 * approval is needed.
 */
export function mayApprove(user: string, { computation, inputs, approvals }: Parts): boolean {
  return (
    computation.owner === user ||
    computation.consumers.includes(user) ||
    inputs.some(({ created_by }) => created_by === user) ||
    approvals.needed.some((needed) => needed.user === user)
  );
}

const dayInMilliseconds = 86_400_000;

/** Returns the moment until which an approval counts, or undefined if it has no end. @param days a whole number, or empty */
export function expiryAfter(days: string, now: number): string | undefined {
  return days === '' ? undefined : new Date(now + Number(days) * dayInMilliseconds).toISOString();
}

/** Returns the command that signs and approves exactly what is shown. The user puts in the file of the private key. */
export function approveCommand({
  domain,
  computation,
  manifest_digest,
  configuration_digest,
  cvm_ids = [],
  expires_at,
}: Approved): string {
  const word = (text: string) => (/^[\w-][\w.:-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
  return [
    `cms --domain ${word(domain)} approve ${word(computation)} --digest ${manifest_digest} --configuration ${configuration_digest}`,
    '--sign KEYFILE',
    ...cvm_ids.map((cvm) => `--cvm ${word(cvm)}`),
    ...(expires_at === undefined ? [] : [`--expires ${expires_at}`]),
  ].join(' ');
}
