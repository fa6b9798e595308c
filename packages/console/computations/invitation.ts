import type { Schemas } from 'computation-management-client';
import { quotedName, userText } from 'computation-management-formats/quoted-name';
import type { Debt, Party } from '../loading/overview.ts';

const tasksOf: Record<Party['parts'][number], string> = {
  owner: 'start the run',
  provider: 'upload your file to it, and your public key',
  consumer: 'upload your public key: you receive the results',
  reviewer: 'review the result before it is released',
};

const tasks: Record<Debt['kind'], (files: string) => string> = {
  key: () => 'upload your public key',
  content: (files) => `upload the content of ${files}`,
  approval: (files) => `review and approve${files && ` the use of ${files}`}`,
};

/** Returns what is expected of a party now: of one who is only named what the named part asks for, else what the party still owes. */
export function expectedOf({ parts, isInvited, owes }: Pick<Party, 'parts' | 'isInvited' | 'owes'>): string[] {
  if (isInvited) return parts.map((part) => tasksOf[part]);
  return owes.map(({ kind, files }) => tasks[kind](files.map(quotedName).join(', ')));
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
