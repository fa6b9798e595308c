import { randomUUID } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { OAuth2Issuer } from 'oauth2-mock-server';
import * as v from 'valibot';
import { keptFile } from '../machine/data-directory.ts';

/** The user and the memberships that a token names. */
export interface TokenRequest {
  sub: string;
  /** The memberships of the user. Each has the form `<domainID>:<role>`. */
  groups: string[];
  expiresInSeconds?: number;
  audience?: string;
}

export interface LocalIssuer {
  url: string;
  audience: string;
  /** The public keys, as the issuer publishes them. */
  publicKeys: JSONWebKeySet;
  /** Finds the public key of a token. */
  keys: JWTVerifyGetKey;
  mintToken: (request: TokenRequest) => Promise<string>;
  /** Mints the ID token of a user who signed in at the issuer with the address `issuer`. */
  mintIdToken: (user: Pick<TokenRequest, 'sub' | 'groups'>, given: { issuer: string; nonce: string | null }) => Promise<string>;
}

const keptKeys = v.object({ keys: v.pipe(v.array(v.record(v.string(), v.unknown())), v.nonEmpty()) });

const defaultLifetimeInSeconds = 12 * 60 * 60;

/**
 * Opens an issuer (RS256) whose tokens look like those of a Cognito user pool, with memberships in the claim named `claim`. Keeps its
 * keys under `dataDirectory`, so that tokens stay valid after a restart.
 */
export async function openIssuer({
  claim,
  dataDirectory,
}: {
  claim: string;
  dataDirectory?: string | undefined;
}): Promise<LocalIssuer> {
  const audience = 'local';
  const issuer = new OAuth2Issuer();
  const url = 'https://issuer.localhost'; // in tokens only: nobody listens there
  issuer.url = url;
  const withoutIt = 'Without it, tokens issued earlier are no longer valid.';
  const file = keptFile(dataDirectory, 'issuer.json', { schema: keptKeys, withoutIt });
  const kept = file.read();
  if (kept) for (const key of kept.keys) await issuer.keys.add(key);
  else {
    await issuer.keys.generate('RS256');
    file.write({ keys: issuer.keys.toJSON(true) });
  }
  const publicKeys = { keys: issuer.keys.toJSON() };

  const claimsOf = ({ sub, groups }: { sub: string; groups: string[] }) => ({
    sub,
    aud: audience,
    client_id: audience,
    auth_time: Math.floor(Date.now() / 1_000),
    jti: randomUUID(),
    ...(groups.length === 0 ? {} : { [claim]: groups }),
  });
  const mint = (expiresIn: number, claims: object) =>
    issuer.buildToken({ expiresIn, scopesOrTransform: (_, payload) => void Object.assign(payload, claims) });

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
