import type { Schemas } from 'computation-management-client';
import { plainName, quotedName, userText } from 'computation-management-formats/quoted-name';
import type { Debt, Party } from '../loading/overview.ts';

const tasksOf: Record<Party['parts'][number], string> = {
  owner: 'start the run',
  provider: 'upload your file to it, and your public key',
  consumer: 'upload your public key: you receive the results',
  reviewer: 'review the result before it is released',
};

/** Returns what a party owes in words, such as `content of a.csv`. */
export function debtText({ kind, files }: Pick<Debt, 'kind' | 'files'>): string {
  const named = files.map(plainName).join(', ');
  if (kind === 'key') return 'public key';
  return kind === 'content' ? `content of ${named}` : `approval${named && ` for ${named}`}`;
}

/** Returns what is expected of a party now: of one who is only named what the named part asks for, else what the party still owes. */
export function expectedOf({ parts, isInvited, owes }: Pick<Party, 'parts' | 'isInvited' | 'owes'>): string[] {
  if (isInvited) return parts.map((part) => tasksOf[part]);
  return owes.map(debtText);
}

/**
 * Returns a text to send to a party by other means: the computation, its owner, what is expected, and the address of the page.
 * @param address the address of the computation's page in the console
 */
export function invitationText(
  { name, owner }: Pick<Schemas['Computation'], 'name' | 'owner'>,
  party: Pick<Party, 'user' | 'parts' | 'isInvited' | 'owes'>,
  address: string,
): string {
  return [
    `${userText(owner)} ${party.isInvited ? 'invites you to' : 'waits for you in'} the computation ${quotedName(name)}.`,
    `Expected of you: ${expectedOf(party).join('; ')}.`,
    `Sign in as ${userText(party.user)}: ${address}`,
    '',
  ].join('\n');
}
