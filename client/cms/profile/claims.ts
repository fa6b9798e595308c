import * as v from 'valibot';
import { CmsError } from '../cms-error.ts';
import { exitCodes } from '../exit-codes.ts';

const claimsSchema = v.looseObject({ sub: v.string(), exp: v.optional(v.number()) });
export type Claims = v.InferOutput<typeof claimsSchema>;

/** Reads the claims of a token. Does not verify it: the service does. @throws CmsError if it is no JSON Web Token */
export function claimsOf(token: string): Claims {
  const [, payload = ''] = token.trim().split('.');
  const claims = v.safeParse(v.pipe(v.string(), v.parseJson(), claimsSchema), Buffer.from(payload, 'base64url').toString());
  if (claims.success) return claims.output;
  throw new CmsError('The token is not a JSON Web Token with a user (sub).', {
    next: 'cms login',
    exitCode: exitCodes.notLoggedIn,
  });
}

/** Lists the memberships in a token, `<domainID>:<role>`, whatever their claim is called. */
export function membershipsOf(claims: Claims): string[] {
  return Object.values(claims)
    .flat()
    .filter((value): value is string => typeof value === 'string' && /^[\w-]{1,64}:[a-z_]+(?::\S+)?$/.test(value))
    .filter((value) =>
      /:(administrator|creator|editor|runner|viewer|algo_provider|dataset_provider|result_consumer|cvm)(:|$)/.test(value),
    );
}
