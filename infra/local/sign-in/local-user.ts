import * as v from 'valibot';
import { longestUserIdInBytes, mayHaveName } from '../../../shared/access/caller.ts';
import { parseMembership } from '../../../shared/access/membership.ts';

const expected = `Expected a user identifier: 1 to ${longestUserIdInBytes} bytes of UTF-8.`;

/** A user of this machine. */
export const localUser = v.pipe(v.string(), v.nonEmpty(expected), v.maxBytes(longestUserIdInBytes, expected));

/** Whether the service accepts a user of this name with these memberships. */
export function isNameFor(user: string, memberships: readonly string[]): boolean {
  return mayHaveName(
    user,
    memberships.flatMap((membership) => parseMembership(membership)?.role ?? []),
  );
}

export const reservedName = 'This name is reserved for the events of the service and of agents. Only a CVM can have it.';
