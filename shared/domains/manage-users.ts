import { cvmId, domainId } from 'computation-management-formats/identifiers';
import { parseMembership, roles as allRoles } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { UsageError } from '../command-line/arguments.ts';

/** The schema of a user's role in a domain: `<domainID>:<role>`, or `<domainID>:cvm:<cvmID>` for a CVM. */
export const membership = v.pipe(
  v.string(),
  v.check((text) => {
    const { domain, boundTo } = parseMembership(text) ?? {};
    return v.is(domainId, domain) && (boundTo === undefined || v.is(cvmId, boundTo));
  }, 'Expected <domainID>:<role>, such as d1:viewer, or <domainID>:cvm:<cvmID>, such as d1:cvm:cvm-1.'),
);

/** A user who was just added to the directory. */
export interface NewUser {
  /** The identifier of the new user, which is `sub` in the user's tokens. */
  id: string;
  /** The first password of the new user, which is shown once. Undefined if the user gets it by e-mail, or needs none. */
  password?: string;
}

/** The number of users and roles that the removal of a domain has removed. */
export interface RemovedUsers {
  /** The number of users that the removal of a domain has removed: those who had no role in another domain. */
  users: number;
  roles: number;
}

/**
 * The place where the users of a stage and their roles are kept, such as a user pool. A membership is a role in a domain, such as
 * `d1:viewer`.
 */
export interface UserDirectory {
  /** Returns the memberships of a user, which are the user's roles in all domains. Undefined if there is no such user. */
  membershipsOf: (user: string) => Promise<string[] | undefined>;
  /** Returns the identifier of a user who exists, which is `sub` in the user's tokens. */
  idOf: (user: string) => Promise<string>;
  usersWith: (membership: string) => Promise<string[]>;
  /** Returns all memberships (roles in a domain, such as `d1:viewer`) in the given domain that somebody has or had. */
  membershipsIn: (domain: string) => Promise<string[]>;
  addUser: (user: string, email: string | undefined) => Promise<NewUser>;
  add: (user: string, membership: string) => Promise<void>;
  remove: (user: string, membership: string) => Promise<void>;
  /** Removes all memberships in a domain, and the users who have no other memberships. May be interrupted and repeated. */
  removeDomain: (domain: string) => Promise<RemovedUsers>;
}

/** A user, and the roles that the user is to have in a domain. */
export interface RolesOfUser {
  domain: string;
  user: string;
  /** The roles of the user in the domain, such as `viewer` or `cvm:my-cvm`. */
  roles: readonly string[];
  /** The e-mail address of the user, for one who is new. */
  email?: string | undefined;
}

/** A user after a change of roles. `created` is set if the change has added the user. */
export interface ManagedUser {
  created?: NewUser;
  memberships: string[];
}

const administrator = 'administrator';

/**
 * Creates a domain: gives a user the role `administrator` in it.
 * @throws UsageError if the domain has an administrator already
 */
export async function createDomain(directory: UserDirectory, given: Omit<RolesOfUser, 'roles'>): Promise<ManagedUser> {
  const { domain } = given;
  const [known] = await administratorsOf(directory, domain);
  if (known !== undefined) throw new UsageError(`The domain ${domain} exists: ${known} is its administrator. Invite others.`);
  return await giveRoles(directory, { ...given, roles: [administrator] });
}

/**
 * Gives a user roles in a domain, in addition to the present ones. Adds the user if necessary.
 * @throws UsageError if there is no such domain
 */
export async function inviteUser(directory: UserDirectory, given: RolesOfUser): Promise<ManagedUser> {
  await demandDomain(directory, given.domain);
  return await giveRoles(directory, given);
}

/**
 * Replaces the roles of a user in a domain.
 * @param onLeft removes what is kept of a user who has no role in the domain any more, by the identifier of the user
 * @throws UsageError if there is no such user, or if the domain would have no administrator
 */
export async function changeRoles(
  directory: UserDirectory,
  { domain, user, roles }: RolesOfUser,
  onLeft: (domain: string, userId: string) => Promise<void>,
): Promise<ManagedUser> {
  await demandDomain(directory, domain);
  const after = membershipsFor(domain, roles);
  const before = await directory.membershipsOf(user);
  if (!before && after.length === 0) await onLeft(domain, user); // the identifier of one who is deleted
  if (!before) throw new UsageError(`There is no user ${user}.`);
  const administrators = await administratorsOf(directory, domain);
  // The user may be given by an alias such as an e-mail address, so the names are not compared.
  const isLast = before.includes(`${domain}:${administrator}`) && administrators.length === 1;
  if (isLast && !roles.includes(administrator)) {
    throw new UsageError(`${user} is the last administrator of ${domain}. Make another user administrator first.`);
  }
  for (const membership of after) if (!before.includes(membership)) await directory.add(user, membership);
  for (const membership of before) {
    if (membership.startsWith(`${domain}:`) && !after.includes(membership)) await directory.remove(user, membership);
  }
  if (after.length === 0) await onLeft(domain, await directory.idOf(user));
  return { memberships: (await directory.membershipsOf(user)) ?? [] };
}

async function giveRoles(directory: UserDirectory, { domain, user, roles, email }: RolesOfUser): Promise<ManagedUser> {
  const given = membershipsFor(domain, roles);
  const before = await directory.membershipsOf(user);
  const created = before ? undefined : await directory.addUser(user, email);
  for (const membership of given) if (!before?.includes(membership)) await directory.add(user, membership);
  const memberships = (await directory.membershipsOf(user)) ?? [];
  return { memberships, ...(created ? { created } : {}) };
}

function membershipsFor(domain: string, roles: readonly string[]): string[] {
  return roles.map((role) => {
    const named = `${domain}:${role}`;
    if (v.is(membership, named)) return named;
    throw new UsageError(`There is no role ${role}. Roles: ${Object.keys(allRoles).join(' ')} cvm:<cvmID>.`);
  });
}

/** Throws if a domain has no administrator, which means that the domain does not exist. @throws UsageError */
async function demandDomain(directory: UserDirectory, domain: string): Promise<void> {
  if ((await administratorsOf(directory, domain)).length > 0) return;
  throw new UsageError(`The domain ${domain} has no administrator. Create it first.`);
}

async function administratorsOf(directory: UserDirectory, domain: string): Promise<string[]> {
  return await directory.usersWith(`${domain}:${administrator}`);
}
