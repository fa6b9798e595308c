import { readClaims } from 'computation-management-client';
import * as v from 'valibot';
import { parseMembership } from '../../../shared/access/membership.ts';
import { CmsError } from '../cms-error.ts';
import { exitCodes } from '../exit-codes.ts';

const claimsSchema = v.looseObject({ sub: v.string(), exp: v.optional(v.number()), iat: v.optional(v.number()) });
export type Claims = v.InferOutput<typeof claimsSchema>;

/**
 * Reads the claims of a token. Does not verify it: the service does.
 * @param next the command to type if it is no JSON Web Token
 * @throws CmsError if it is no JSON Web Token
 */
export function claimsOf(token: string, next = 'cms login'): Claims {
  const claims = v.safeParse(claimsSchema, readClaims(token));
  if (claims.success) return claims.output;
  throw new CmsError('The token is not a JSON Web Token with a user (sub).', {
    next,
    exitCode: exitCodes.notLoggedIn,
  });
}

/** Lists the memberships in a token, `<domainID>:<role>`, whatever their claim is called. */
export function membershipsOf(claims: Claims): string[] {
  return Object.values(claims)
    .flat()
    .filter((value) => typeof value === 'string')
    .filter((value) => parseMembership(value) !== undefined);
}
