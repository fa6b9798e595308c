import { isRole, type Role } from './roles.ts';

/** What a token says about its user in one domain. */
interface Membership {
  domain: string;
  role: Role;
  /** The CVM that the role `cvm` is bound to. Undefined: every CVM of the domain. */
  boundTo?: string;
}

/** The first two colons divide: an identifier of a CVM may contain more. @returns undefined if it is malformed */
export function parseMembership(text: string): Membership | undefined {
  const [, domain = '', role = '', boundTo] = /^([^:]+):([^:]+)(?::(.+))?$/s.exec(text) ?? [];
  if (!isRole(role)) return undefined;
  if (boundTo === undefined) return { domain, role };
  return role === 'cvm' ? { domain, role, boundTo } : undefined;
}
