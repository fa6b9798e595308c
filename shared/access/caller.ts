import { ServiceError } from '../errors.ts';
import { isRole, roles, type AccessAction, type Role } from './roles.ts';

/** The authenticated user, seen from one domain. */
export interface Caller {
  /** The token's `sub`. */
  id: string;
  roles: ReadonlySet<Role>;
  actions: ReadonlySet<AccessAction>;
}

type Claims = Record<string, unknown>;

/** OpenID Connect Core 1.0, section 2. */
const longestUserIdInBytes = 255;

/** Originators of events that are no users. */
const reserved = new Set(['', 'system', 'agent', 'computation-runner']);

/**
 * Reads who calls from the claims of a verified token. A membership is a string `<domainID>:<role>`; API Gateway hands an
 * array claim over as one string `[a b c]`. Strings of other domains, and roles that do not exist, mean nothing here.
 * @throws ServiceError `unauthenticated` without a `sub`, `forbidden` without any role in the domain.
 */
export function callerOf(claims: Claims, membershipClaim: string, domain: string): Caller {
  const id = claims['sub'];
  if (typeof id !== 'string' || reserved.has(id) || Buffer.byteLength(id) > longestUserIdInBytes) {
    throw new ServiceError(
      'unauthenticated',
      `The token names no user: claim \`sub\` has 1 to ${longestUserIdInBytes} bytes, and is no reserved word.`,
    );
  }
  const held = new Set<Role>();
  for (const membership of memberships(claims[membershipClaim])) {
    const colon = membership.lastIndexOf(':');
    const role = membership.slice(colon + 1);
    if (colon > 0 && membership.slice(0, colon) === domain && isRole(role)) held.add(role);
  }
  if (held.size === 0) throw new ServiceError('forbidden', `The token gives no role in the domain ${domain}.`);
  return { id, roles: held, actions: new Set([...held].flatMap((role) => roles[role])) };
}

function memberships(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.filter((entry) => typeof entry === 'string');
  if (typeof claim !== 'string') return [];
  const list = claim.startsWith('[') && claim.endsWith(']') ? claim.slice(1, -1) : claim;
  return list.split(/\s+/).filter((entry) => entry !== '');
}

/** Someone who may act on a resource whatever their roles: its owner, its creator. */
export type Relation = 'owner' | 'creator';

/** What an endpoint takes: one of the actions, or one of the relations to the resource at hand. */
export interface Access {
  anyOf: readonly AccessAction[];
  or?: readonly Relation[];
}

/** @throws ServiceError `forbidden`, saying which action was missing. */
export function permit(caller: Caller, access: Access, relations: Partial<Record<Relation, string>> = {}): void {
  if (access.anyOf.some((action) => caller.actions.has(action))) return;
  if (access.or?.some((relation) => relations[relation] === caller.id)) return;
  const alternatives = [...access.anyOf, ...(access.or ?? []).map((relation) => `being its ${relation}`)];
  throw new ServiceError(
    'forbidden',
    `This takes ${alternatives.join(' or ')}; your roles here: ${[...caller.roles].sort().join(', ')}.`,
  );
}

/** What it takes to bring in an asset of this type, or to make one of it. */
export function providing(assetType: 'algorithm' | 'dataset'): Access {
  return { anyOf: [`provide_${assetType}`] };
}
