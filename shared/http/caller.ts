import {
  type AccessAction,
  type AssetType,
  isReservedName,
  parseMembership,
  type Role,
  roles,
  rolesWith,
} from 'computation-management-formats/vocabulary';
import { ForbiddenForNowError, ServiceError, eitherOf } from '../runtime/errors.ts';

export interface Caller {
  id: string;
  roles: ReadonlySet<Role>;
  actions: ReadonlySet<AccessAction>;
}

type Claims = Record<string, unknown>;

/** OpenID Connect Core 1.0, section 2. */
export const longestUserIdInBytes = 255;

/**
 * A membership is a string `<domainID>:<role>`, or `<domainID>:cvm:<cvmID>`, which allows what the role `cvm` does on that CVM
 * alone. Those of other domains and unknown roles are ignored.
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
    if (ofDomain !== domain || role === undefined) continue;
    held.add(role);
    if (boundTo === undefined || boundTo === cvmId) for (const action of roles[role]) actions.add(action);
  }
  if (!mayHaveName(id, held)) throw noUser();
  if (held.size === 0) throw new ServiceError('forbidden', `The token has no role in the domain ${domain}.`);
  return { id, roles: held, actions };
}

/** A CVM may have a reserved name, because no event names the CVM's token. */
export function mayHaveName(sub: string, held: Iterable<Role>): boolean {
  return !isReservedName(sub) || [...held].every((role) => role === 'cvm');
}

function noUser(): ServiceError {
  return new ServiceError(
    'unauthenticated',
    `The token names no user. Its claim \`sub\` must have 1 to ${longestUserIdInBytes} bytes of UTF-8 and must not be a reserved name.`,
  );
}

/** API Gateway passes an array claim on as one string, `[a b c]`. */
function memberships(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.filter((entry) => typeof entry === 'string');
  if (typeof claim !== 'string') return [];
  const list = claim.startsWith('[') && claim.endsWith(']') ? claim.slice(1, -1) : claim;
  return list.split(' ');
}

/** May allow a request whatever the caller's roles. */
export type Relation = 'owner' | 'creator' | 'consumer';

export type Relations = Partial<Record<Relation, string | readonly string[]>>;

/** One of the actions, or one of the relations to the resource. */
export interface Access {
  anyOf: readonly AccessAction[];
  or?: readonly Relation[];
}

declare const proof: unique symbol;

/** Only requireAccess makes one. */
export interface Permitted {
  readonly [proof]: true;
}

const permitted = Object.freeze({}) as Permitted;

/** @throws ServiceError `forbidden` if the caller has none of the actions and none of the relations */
export function requireAccess(caller: Caller, access: Access, relations: Relations = {}): Permitted {
  const isAllowed =
    access.anyOf.some((action) => caller.actions.has(action)) ||
    access.or?.some((relation) => hasRelation(caller, relation, relations));
  if (isAllowed) return permitted;
  throw forbidden(caller, access);
}

/** A reserved name has no relations, so that no event names it as the user. */
function hasRelation({ id }: Caller, relation: Relation, relations: Relations): boolean {
  if (isReservedName(id)) return false;
  const users = relations[relation] ?? [];
  return typeof users === 'string' ? users === id : users.includes(id);
}

/** Returns the relations of the caller among these. */
export function relationsOf(caller: Caller, relations: Relations): Partial<Record<Relation, string>> {
  const held = (Object.keys(relations) as Relation[]).filter((relation) => hasRelation(caller, relation, relations));
  return Object.fromEntries(held.map((relation) => [relation, caller.id]));
}

/** For an action that only some requests of an endpoint take. @throws ServiceError `forbidden` */
export function requireAction(caller: Caller, action: AccessAction): void {
  if (!caller.actions.has(action)) throw forbidden(caller, { anyOf: [action] });
}

/** For an action that a request takes because it would change what a resource has now. @throws ForbiddenForNowError */
export function requireActionToChange(caller: Caller, action: AccessAction): void {
  if (!caller.actions.has(action)) throw new ForbiddenForNowError(forbidden(caller, { anyOf: [action] }).message);
}

const relationNames: Record<Relation, string> = {
  owner: 'the owner of the computation',
  creator: 'the creator of an asset concerned',
  consumer: 'a result consumer',
};

export function forbidden(caller: Caller, { anyOf, or = [] }: Access): ServiceError {
  if (anyOf.includes('operate_cvm') && caller.roles.has('cvm')) {
    return new ServiceError('forbidden', 'The token is valid only for other CVMs of this domain. Use the token of this CVM.');
  }
  const role = anyOf.length > 0 ? [`the role ${eitherOf(rolesWith(...anyOf))}`] : [];
  const needed = [...role, ...or.map((relation) => `being ${relationNames[relation]}`)].join(', or ');
  const held = [...caller.roles].sort().join(', ');
  return new ServiceError('forbidden', `Requires ${needed}. Your roles in this domain: ${held}.`);
}

export function providing(assetType: AssetType): AccessAction {
  return `provide_${assetType}`;
}
