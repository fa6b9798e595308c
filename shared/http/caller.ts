import { longestUserIdInBytes } from 'computation-management-formats/fields';
import {
  type AccessAction,
  type AssetType,
  isReservedName,
  parseMembership,
  type Role,
  roles,
  rolesWith,
} from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { eitherOf, ForbiddenForNowError, ServiceError } from '../runtime/errors.ts';

/**
 * The user or CVM that sends a request: the `sub` of the access token, the roles in the domain of the request, and the actions
 * that these roles allow.
 */
export interface Caller {
  id: string;
  roles: ReadonlySet<Role>;
  actions: ReadonlySet<AccessAction>;
  /** The verified address of mail that the token names. */
  email?: string;
}

type Claims = Record<string, unknown>;

/**
 * Returns the caller whom the claims of an access token name, with their roles in the domain. A membership is a string
 * `<domainID>:<role>`, or `<domainID>:cvm:<cvmID>`, which allows what the role `cvm` does on that CVM alone. Memberships of other
 * domains and unknown roles are ignored.
 * @param cvmId the CVM in the path of the request
 * @throws ServiceError `unauthenticated` without a `sub`, for an ID token, or for a reserved name with another role than `cvm`;
 *   `forbidden` without any role in the domain
 */
export function callerOf(claims: Claims, membershipClaim: string, domain: string, cvmId?: string): Caller {
  // Cognito's ID tokens pass the authorizer too: they have the same issuer, audience and groups.
  if (claims['token_use'] !== undefined && claims['token_use'] !== 'access') {
    throw new ServiceError('unauthenticated', 'The token is not an access token. Send the access token of the sign-in.');
  }
  const id = claims['sub'];
  if (typeof id !== 'string' || id === '' || !id.isWellFormed() || Buffer.byteLength(id) > longestUserIdInBytes) throw noUser();
  const held = new Set<Role>();
  const actions = new Set<AccessAction>();
  for (const membership of memberships(claims[membershipClaim])) {
    const { domain: ofDomain, role, boundTo } = parseMembership(membership) ?? {};
    if (ofDomain !== domain || role === undefined) continue; // defence
    held.add(role);
    if (boundTo === undefined || boundTo === cvmId) for (const action of roles[role]) actions.add(action); // defence
  }
  if (!mayHaveName(id, held)) throw noUser();
  if (held.size === 0) throw new ServiceError('forbidden', `The token has no role in the domain ${domain}.`);
  const email = verifiedAddressIn(claims);
  return { id, roles: held, actions, ...(email === undefined ? {} : { email }) };
}

/**
 * Returns whether a user with the given roles may have the given identifier (`sub` of the token). A reserved name, such as
 * `system`, is allowed only to CVMs, because no event names the token of a CVM.
 */
export const mayHaveName = (sub: string, held: Iterable<Role>): boolean =>
  !isReservedName(sub) || [...held].every((role) => role === 'cvm');

function noUser(): ServiceError {
  return new ServiceError(
    'unauthenticated',
    `The token names no user. Its claim \`sub\` must have 1 to ${longestUserIdInBytes} bytes of UTF-8 and must not be a reserved name.`,
  );
}

/**
 * Splits the claim of an access token that lists the user's memberships in domains. API Gateway passes an array claim on as one
 * string, `[a b c]`.
 */
function memberships(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.filter((entry) => typeof entry === 'string');
  if (typeof claim !== 'string') return [];
  const list = claim.startsWith('[') && claim.endsWith(']') ? claim.slice(1, -1) : claim;
  return list.split(' ');
}

/** A relation of a caller to a resource, such as its owner. A relation may allow a request whatever the caller's roles are. */
export type Relation = 'owner' | 'creator' | 'consumer' | 'provider' | 'reviewer';

/** The users who have each relation to a resource. */
export type Relations = Partial<Record<Relation, string | readonly string[]>>;

/**
 * The access that an endpoint requires: the caller needs one of the actions by a role, or one of the relations to the resource.
 */
export interface Access {
  anyOf: readonly AccessAction[];
  or?: readonly Relation[];
}

declare const proof: unique symbol;

/** The proof that the access of the caller to a resource was checked. Only `requireAccess` makes such a proof. */
export interface Permitted {
  readonly [proof]: true;
}

const permitted = Object.freeze({}) as Permitted;

/**
 * Checks that the caller may make a request, by the roles or by a relation to the resource. Returns the proof of the check.
 * @throws ServiceError `forbidden` if the caller has none of the actions and none of the relations
 */
export function requireAccess(caller: Caller, access: Access, relations: Relations = {}): Permitted {
  const isAllowed =
    access.anyOf.some((action) => caller.actions.has(action)) || // defence
    access.or?.some((relation) => hasRelation(caller, relation, relations));
  if (isAllowed) return permitted;
  throw forbidden(caller, access);
}

/**
 * Returns whether the caller has a given relation to the resource, such as `owner`. A caller with a reserved name has no
 * relations, so that no event names that caller as a user.
 */
function hasRelation({ id }: Caller, relation: Relation, relations: Relations): boolean {
  if (isReservedName(id)) return false;
  const users = relations[relation] ?? [];
  return typeof users === 'string' ? users === id : users.includes(id);
}

/** Returns the relations that the caller has to a resource, out of the given relations of all users to the resource. */
export function relationsOf(caller: Caller, relations: Relations): Partial<Record<Relation, string>> {
  const held = (Object.keys(relations) as Relation[]).filter((relation) => hasRelation(caller, relation, relations));
  return Object.fromEntries(held.map((relation) => [relation, caller.id]));
}

/**
 * Checks the access for an action that only some requests of an endpoint take.
 * @throws ServiceError `forbidden` if the caller's roles do not allow the action
 */
export function requireAction(caller: Caller, action: AccessAction): void {
  if (!caller.actions.has(action)) throw forbidden(caller, { anyOf: [action] });
}

/**
 * Checks the access for an action that a request takes only because it would change what a resource has now.
 * @throws ForbiddenForNowError if the caller's roles do not allow the action
 */
export function requireActionToChange(caller: Caller, action: AccessAction): void {
  if (!caller.actions.has(action)) throw new ForbiddenForNowError(forbidden(caller, { anyOf: [action] }).message);
}

/** Names each relation where a text says who may send a request. */
export const relationNames: Record<Relation, string> = {
  owner: 'the owner of the computation',
  creator: 'the creator of an asset concerned',
  consumer: 'a result consumer',
  reviewer: 'a reviewer of results',
  provider: 'a provider whom the computation names, to refuse',
};

/** Returns the error for a caller without access. It says which role or relation is required. */
export function forbidden(caller: Caller, { anyOf, or = [] }: Access): ServiceError {
  if (anyOf.includes('operate_cvm') && caller.roles.has('cvm')) {
    return new ServiceError('forbidden', 'The token is valid only for one CVM of this domain, at the addresses of that CVM.');
  }
  const role = anyOf.length > 0 ? [`the role ${eitherOf(rolesWith(...anyOf))}`] : [];
  const needed = [...role, ...or.map((relation) => `being ${relationNames[relation]}`)].join(', or ');
  const held = [...caller.roles].sort().join(', ');
  return new ServiceError('forbidden', `Requires ${needed}. Your roles in this domain: ${held}.`);
}

/** Returns the action that a caller's roles must allow to provide an asset of the given type: an algorithm or a dataset. */
export const providing = (assetType: AssetType): AccessAction => `provide_${assetType}`;

/** The claims of a token, or of an issuer's answer about its user, that name a verified address of mail. API Gateway gives both as text. */
const addressClaims = v.object({
  email: v.pipe(v.string(), v.maxLength(254), v.regex(/^[^\s@<>()[\]\\,;:"\p{C}]+@[^\s@<>()[\]\\,;:"\p{C}]+$/u)),
  email_verified: v.union([v.literal(true), v.literal('true')]),
});

/** Returns the verified address of mail that the claims of a token have. Undefined without one. */
export function verifiedAddressIn(claims: unknown): string | undefined {
  const found = v.safeParse(addressClaims, claims);
  return found.success ? found.output.email : undefined;
}
