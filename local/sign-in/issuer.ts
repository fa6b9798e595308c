import { isReservedName, parseMembership } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { membership } from '../../shared/domains/manage-users.ts';
import { longestUserIdInBytes } from 'computation-management-formats/fields';
import { mayHaveName } from '../../shared/http/caller.ts';
import { randomUUID } from 'node:crypto';
import {
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  type JWTVerifyGetKey,
  SignJWT,
} from 'jose';
import { keptFile } from '../machine/data-directory.ts';

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

/** The user and the memberships for which a token is asked for. */
export interface TokenRequest {
  sub: string;
  /** The memberships, each in the form `<domainID>:<role>`. */
  groups: string[];
  /** The address of the user. Tokens say that it is verified. */
  email?: string | undefined;
  expiresInSeconds?: number | undefined;
  audience?: string;
}

/** The issuer of tokens for the service on this machine. */
export interface LocalIssuer {
  /** The URL of the issuer that access tokens name. Nobody listens there. */
  url: string;
  /** The identifier of the client that access tokens are for. */
  audience: string;
  /** The public keys with which tokens are verified, as the issuer publishes them. */
  publicKeys: JSONWebKeySet;
  /** Finds the public key with which a token is verified. */
  keys: JWTVerifyGetKey;
  /** Mints an access token, which is valid for 12 hours unless the request says otherwise. */
  mintToken: (request: TokenRequest) => Promise<string>;
  /** Mints the ID token of a user who signed in at the issuer with the address `issuer`. The token is valid for 12 hours. */
  mintIdToken: (user: Pick<TokenRequest, 'sub' | 'groups'>, given: { issuer: string; nonce: string | null }) => Promise<string>;
}

const algorithm = 'RS256';

/** The schema of an RSA private key as JSON Web Key (RFC 7517), with the identifier that its tokens name. */
const privateKey = v.looseObject({ kty: v.literal('RSA'), kid: v.string(), n: v.string(), e: v.string(), d: v.string() });
const keptKeys = v.object({ keys: v.tuple([privateKey]) });

const defaultLifetimeInSeconds = 12 * 60 * 60;

/**
 * Opens an issuer (RS256) whose tokens look like those of a Cognito user pool. Memberships are in the claim named `claim`. The
 * issuer's keys are kept under `dataDirectory`, so that tokens stay valid after a restart.
 */
export async function openIssuer(kept: { claim: string; dataDirectory?: string | undefined }): Promise<LocalIssuer> {
  const { claim, dataDirectory } = kept;
  const audience = 'local';
  const url = 'https://issuer.localhost';
  const withoutIt = 'Without it, tokens issued earlier are no longer valid.';
  const file = keptFile(dataDirectory, 'issuer.json', { schema: keptKeys, withoutIt });
  const [key] = (file.read() ?? file.write({ keys: [await newKey()] })).keys;
  const { kty, n, e, kid } = key;
  const publicKeys = { keys: [{ kty, n, e, kid, alg: algorithm }] };
  const signingKey = await importJWK(key as JWK, algorithm);

  const claimsOf = ({ sub, groups, email }: Pick<TokenRequest, 'sub' | 'groups' | 'email'>) => ({
    sub,
    aud: audience,
    client_id: audience,
    auth_time: Math.floor(Date.now() / 1_000),
    jti: randomUUID(),
    ...(groups.length === 0 ? {} : { [claim]: groups }),
    ...(email === undefined ? {} : { email, email_verified: true }),
  });
  const mint = async (expiresInSeconds: number, claims: object) => {
    const iat = Math.floor(Date.now() / 1_000);
    const payload = { iss: url, iat, exp: iat + expiresInSeconds, nbf: iat - 10, ...claims };
    return await new SignJWT(payload).setProtectedHeader({ typ: 'JWT', kid, alg: algorithm }).sign(signingKey);
  };

  return {
    url,
    audience,
    publicKeys,
    keys: createLocalJWKSet(publicKeys),
    mintToken: ({ expiresInSeconds = defaultLifetimeInSeconds, audience: aud = audience, ...user }) =>
      mint(expiresInSeconds, { ...claimsOf(user), token_use: 'access', aud, client_id: aud }),
    mintIdToken: (user, { issuer: iss, nonce }) =>
      mint(defaultLifetimeInSeconds, { ...claimsOf(user), token_use: 'id', iss, ...(nonce === null ? {} : { nonce }) }),
  };
}

async function newKey(): Promise<v.InferOutput<typeof privateKey>> {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  return v.parse(privateKey, { ...(await exportJWK(pair.privateKey)), kid: randomUUID(), alg: algorithm });
}
