import type { Schemas } from 'computation-management-client';
import type { Approved } from 'computation-management-formats/approval-text';
import { shellWord } from 'computation-management-words';

interface Parts {
  computation: Pick<Schemas['Computation'], 'owner' | 'consumers'>;
  inputs: readonly { created_by?: string | undefined }[];
  approvals: Pick<Schemas['Approvals'], 'needed'>;
}

/**
 * Returns whether the API would take an approval of a user. Users who became result consumers by uploading a key are known only if their
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

/**
 * Returns the time at which an approval ends, or undefined if the approval has no end.
 * @param days the days from now as text: a whole number, or empty
 */
export function expiryAfter(days: string, now: number): string | undefined {
  return days === '' ? undefined : new Date(now + Number(days) * dayInMilliseconds).toISOString();
}

/**
 * Returns the command that signs and approves exactly the manifest and configuration that the page shows. KEYFILE stands for the file of
 * the private key.
 */
export function approveCommand({
  domain,
  computation,
  manifest_digest,
  configuration_digest,
  cvm_ids = [],
  expires_at,
}: Approved): string {
  return [
    `cms --domain ${shellWord(domain)} approve ${shellWord(computation)} --digest ${manifest_digest} --configuration ${configuration_digest}`,
    '--sign KEYFILE',
    ...cvm_ids.map((cvm) => `--cvm ${shellWord(cvm)}`),
    ...(expires_at === undefined ? [] : [`--expires ${expires_at}`]),
  ].join(' ');
}
