import { readClaims } from 'computation-management-client';
import { parseMembership } from '../../../shared/access/membership.ts';
import type { Role } from '../../../shared/access/roles.ts';

/** What an access token says about its user. The console shows it; only the API decides by it. */
export interface Identity {
  /** The claim `sub`, under which the API knows the user. */
  user: string;
  /** The user's roles by domain. */
  roles: Record<string, Role[]>;
}

/** @throws Error if the access token is not a JWT that names a user */
export function identityOf(token: string, membershipClaim: string): Identity {
  const claims = readClaims(token);
  if (claims === undefined) throw new Error('The issuer gave an access token that is not a JWT.');
  const user = claims['sub'];
  if (typeof user !== 'string') throw new Error('The access token names no user.');
  const roles: Record<string, Role[]> = {};
  for (const text of textsOf(claims[membershipClaim])) {
    const membership = parseMembership(text);
    if (membership === undefined) continue;
    const ofDomain = (roles[membership.domain] ??= []);
    if (!ofDomain.includes(membership.role)) ofDomain.push(membership.role);
  }
  return { user, roles };
}

function textsOf(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.filter((entry) => typeof entry === 'string');
  return typeof claim === 'string' ? claim.split(' ') : [];
}
