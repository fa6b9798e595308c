import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRemoteJWKSet, type JWTVerifyGetKey } from 'jose';
import { OAuth2Server } from 'oauth2-mock-server';

/** Whom a token is for, with what standing. */
export interface TokenRequest {
  sub: string;
  /** `<domainID>:<role>` each. */
  groups: string[];
  expiresInSeconds?: number;
  audience?: string;
}

export interface LocalIssuer {
  url: string;
  audience: string;
  keys: JWTVerifyGetKey;
  mintToken: (request: TokenRequest) => Promise<string>;
  stop: () => Promise<void>;
}

interface Kept {
  url: string;
  keys: Record<string, unknown>[];
}

const defaultLifetimeInSeconds = 12 * 60 * 60;

/**
 * Starts an OpenID Connect issuer (RS256) whose tokens look like those of a Cognito user pool, with memberships in the
 * claim named `claim`. Under `dataDirectory` its keys and name are kept, so that older tokens stay good.
 */
export async function startIssuer({ claim, dataDirectory }: { claim: string; dataDirectory?: string }): Promise<LocalIssuer> {
  const audience = 'local';
  const kept = dataDirectory === undefined ? undefined : readKept(dataDirectory);
  const server = new OAuth2Server();
  if (kept) for (const key of kept.keys) await server.issuer.keys.add(key);
  else await server.issuer.keys.generate('RS256');
  await server.start(0, '127.0.0.1');
  const origin = `http://127.0.0.1:${server.address().port}`;
  const url = kept?.url ?? origin;
  server.issuer.url = url;
  if (dataDirectory !== undefined && !kept) keep(dataDirectory, { url, keys: server.issuer.keys.toJSON(true) });

  return {
    url,
    audience,
    keys: createRemoteJWKSet(new URL(`${origin}/jwks`)),
    mintToken: ({ sub, groups, expiresInSeconds = defaultLifetimeInSeconds, audience: other }) =>
      server.issuer.buildToken({
        expiresIn: expiresInSeconds,
        scopesOrTransform: (_, payload) => {
          Object.assign(payload, {
            sub,
            aud: other ?? audience,
            client_id: other ?? audience,
            token_use: 'id',
            auth_time: payload.iat,
            jti: randomUUID(),
            ...(groups.length === 0 ? {} : { [claim]: groups }),
          });
        },
      }),
    stop: () => server.stop(),
  };
}

function readKept(dataDirectory: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(keptFile(dataDirectory), 'utf8')) as Kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function keep(dataDirectory: string, kept: Kept): void {
  mkdirSync(dataDirectory, { recursive: true });
  writeFileSync(keptFile(dataDirectory), JSON.stringify(kept), { mode: 0o600 });
}

function keptFile(dataDirectory: string): string {
  return join(dataDirectory, 'issuer.json');
}
