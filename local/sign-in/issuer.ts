import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createRemoteJWKSet, type JWTVerifyGetKey } from 'jose';
import { OAuth2Server } from 'oauth2-mock-server';
import * as v from 'valibot';
import { BrokenFilesError, readKeptJson, writeKeptFile } from '../machine/data-directory.ts';
import { browserSignIn } from './browser-sign-in.ts';

/** The user and the memberships that a token names. */
export interface TokenRequest {
  sub: string;
  /** Each has the form `<domainID>:<role>`. */
  groups: string[];
  expiresInSeconds?: number;
  audience?: string;
}

export interface LocalIssuer {
  url: string;
  audience: string;
  keys: JWTVerifyGetKey;
  mintToken: (request: TokenRequest) => Promise<string>;
  /** Answers a request of a browser that signs in, below `issuerPath`. */
  signIn: ReturnType<typeof browserSignIn>;
  stop: () => Promise<void>;
}

const keptIssuer = v.object({
  url: v.string(),
  keys: v.pipe(v.array(v.record(v.string(), v.unknown())), v.nonEmpty()),
});
type KeptIssuer = v.InferOutput<typeof keptIssuer>;

const defaultLifetimeInSeconds = 12 * 60 * 60;

/**
 * Starts an OpenID Connect issuer (RS256) whose tokens look like those of a Cognito user pool, with memberships in the
 * claim named `claim`. Keeps its keys and URL under `dataDirectory`, so that tokens stay valid after a restart.
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
  if (dataDirectory !== undefined && !kept) {
    const created: KeptIssuer = { url, keys: server.issuer.keys.toJSON(true) };
    try {
      writeKeptFile(keptFile(dataDirectory), JSON.stringify(created));
    } catch (error) {
      await server.stop().catch(() => undefined); // the first failure tells more
      throw error;
    }
  }

  const claimsOf = ({ sub, groups }: { sub: string; groups: string[] }) => ({
    sub,
    client_id: audience,
    token_use: 'access',
    auth_time: Math.floor(Date.now() / 1_000),
    jti: randomUUID(),
    ...(groups.length === 0 ? {} : { [claim]: groups }),
  });

  return {
    url,
    audience,
    signIn: browserSignIn({ service: server.service, clientId: audience, claimsOf }),
    keys: createRemoteJWKSet(new URL(`${origin}/jwks`)),
    mintToken: ({ sub, groups, expiresInSeconds = defaultLifetimeInSeconds, audience: other }) =>
      server.issuer.buildToken({
        expiresIn: expiresInSeconds,
        scopesOrTransform: (_, payload) => {
          Object.assign(payload, {
            ...claimsOf({ sub, groups }),
            aud: other ?? audience,
            client_id: other ?? audience,
          });
        },
      }),
    stop: () => server.stop(),
  };
}

function readKept(dataDirectory: string): KeptIssuer | undefined {
  const file = keptFile(dataDirectory);
  const kept = readKeptJson(file, keptIssuer);
  if (kept === undefined) return undefined;
  if ('content' in kept) return kept.content;
  throw new BrokenFilesError([
    { file, problem: kept.problem, withoutIt: 'Without it, tokens issued earlier are no longer valid.' },
  ]);
}

function keptFile(dataDirectory: string): string {
  return join(dataDirectory, 'issuer.json');
}
