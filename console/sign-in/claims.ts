import { parseMembership } from '../../shared/access/membership.ts';
import type { Role } from '../../shared/access/roles.ts';

/** What an access token says about its user. The console shows it; only the API decides by it. */
export interface Identity {
  /** The claim `sub`, under which the API knows the user. */
  user: string;
  /** The user's roles by domain. */
  roles: Record<string, Role[]>;
}

/** Reads an access token without checking its signature. @throws Error if it is not a JWT that names a user */
export function identityOf(token: string, membershipClaim: string): Identity {
  const claims = claimsOf(token);
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

function claimsOf(token: string): Record<string, unknown> {
  const [, payload] = token.split('.');
  try {
    const bytes = Uint8Array.from(atob((payload ?? '').replaceAll('-', '+').replaceAll('_', '/')), (byte) => byte.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  } catch {
    throw new Error('The issuer gave an access token that is not a JWT.');
  }
}

function textsOf(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.filter((entry) => typeof entry === 'string');
  return typeof claim === 'string' ? claim.split(' ') : [];
}
