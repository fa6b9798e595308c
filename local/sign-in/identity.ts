import { isReservedName, parseMembership } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { membership } from '../../shared/domains/manage-users.ts';
import { longestUserIdInBytes, mayHaveName } from '../../shared/http/caller.ts';

const expected = `Expected a user identifier: 1 to ${longestUserIdInBytes} bytes of UTF-8.`;

/** The schema of the name of a user of this machine. */
export const localUser = v.pipe(v.string(), v.nonEmpty(expected), v.maxBytes(longestUserIdInBytes, expected));

/** Says whether this machine gives tokens to a user with a name and memberships. A reserved name is for CVMs alone. */
export function isNameFor(user: string, memberships: readonly string[]): boolean {
  const held = memberships.flatMap((membership) => parseMembership(membership)?.role ?? []);
  return held.length > 0 ? mayHaveName(user, held) : !isReservedName(user);
}

export const reservedName = 'This name is reserved for the events of the service and of agents. Only a CVM can have it.';

/** The schema of the name and the memberships that a user chose on the sign-in page. */
export const identity = v.pipe(
  v.object({
    sub: localUser,
    group: v.pipe(
      v.optional(v.union([v.string(), v.array(v.string())]), []),
      v.transform((one) => [one].flat()),
      v.array(membership),
    ),
  }),
  v.check(({ sub, group }) => isNameFor(sub, group), reservedName),
);
export type Identity = v.InferOutput<typeof identity>;
