import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { generateKeyPair, SignJWT } from 'jose';
import { listen } from '../../local/machine/listen.ts';

/** An answer of an issuer to a request for tokens or for its metadata. */
export interface IssuerAnswer {
  statusCode: number;
  body: Record<string, unknown>;
}

/** An OpenID Connect issuer that signs in every user at once, as `johndoe`, and gives tokens to every program. */
export interface IssuerServer {
  issuer: string;
  /** Claims that every token has besides its own, or in place of them. */
  claims: Record<string, unknown>;
  /** Changes the next answer to a request for tokens. */
  onNextTokens: (change: (answer: IssuerAnswer) => void) => void;
  /** Changes the next answer to a request for the metadata. */
  onNextMetadata: (change: (answer: IssuerAnswer) => void) => void;
  stop: () => Promise<void>;
}

const lifetimeInSeconds = 3_600;

/** Starts an issuer with the authorization code flow with PKCE, refresh tokens and client credentials, without a device flow. */
export async function startIssuerServer(): Promise<IssuerServer> {
  const { privateKey } = await generateKeyPair('RS256');
  const codes = new Map<string, { challenge: string; nonce: string | null }>();
  const claims: Record<string, unknown> = {};
  let changeTokens: ((answer: IssuerAnswer) => void) | undefined;
  let changeMetadata: ((answer: IssuerAnswer) => void) | undefined;
  const sign = async (iss: string, own: object) => {
    const iat = Math.floor(Date.now() / 1_000);
    const payload = { iss, iat, exp: iat + lifetimeInSeconds, nbf: iat - 10, ...own, ...claims };
    return await new SignJWT(payload).setProtectedHeader({ typ: 'JWT', kid: '1', alg: 'RS256' }).sign(privateKey);
  };

  const metadata = (issuer: string): IssuerAnswer => ({
    statusCode: 200,
    body: {
      issuer,
      token_endpoint: `${issuer}/token`,
      authorization_endpoint: `${issuer}/authorize`,
      end_session_endpoint: `${issuer}/endsession`,
      token_endpoint_auth_methods_supported: ['none'],
      response_types_supported: ['code'],
      grant_types_supported: ['client_credentials', 'authorization_code'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      subject_types_supported: ['public'],
    },
  });
  const tokens = async (issuer: string, request: IncomingMessage): Promise<IssuerAnswer> => {
    const form = new URLSearchParams(await text(request));
    const [grant, scope] = [form.get('grant_type'), form.get('scope') ?? undefined];
    const answer = { token_type: 'Bearer', expires_in: lifetimeInSeconds, scope };
    if (grant === 'client_credentials') {
      return { statusCode: 200, body: { ...answer, access_token: await sign(issuer, { scope }) } };
    }
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant !== 'refresh_token' && (grant !== 'authorization_code' || code?.challenge !== challenge)) {
      return { statusCode: 400, body: { error: 'invalid_grant' } };
    }
    const [, basic = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    const aud = Buffer.from(basic, 'base64').toString().split(':')[0] || form.get('client_id');
    const ofUser = { sub: 'johndoe', amr: ['pwd'], scope: scope ?? 'dummy' };
    const ofId = { sub: 'johndoe', aud, ...(code?.nonce ? { nonce: code.nonce } : {}) };
    const [access_token, id_token] = await Promise.all([sign(issuer, ofUser), sign(issuer, ofId)]);
    return { statusCode: 200, body: { ...answer, access_token, id_token, refresh_token: randomUUID() } };
  };
  const redirectOf = (query: URLSearchParams): string => {
    const [code, back] = [randomUUID(), new URL(query.get('redirect_uri') ?? '')];
    codes.set(code, { challenge: query.get('code_challenge') ?? '', nonce: query.get('nonce') });
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    return back.href;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const issuer = `http://${request.headers.host ?? ''}`;
    const { pathname, searchParams } = new URL(request.url ?? '', issuer);
    const send = ({ statusCode, body }: IssuerAnswer) =>
      response.writeHead(statusCode, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === '/authorize') response.writeHead(302, { location: redirectOf(searchParams) }).end();
    else if (pathname === '/token') {
      const given = await tokens(issuer, request);
      const change = changeTokens;
      changeTokens = undefined;
      change?.(given);
      send(given);
    } else if (pathname === '/.well-known/openid-configuration') {
      const given = metadata(issuer);
      const change = changeMetadata;
      changeMetadata = undefined;
      change?.(given);
      send(given);
    } else send({ statusCode: 404, body: {} });
  };
  const { endpoint, stop } = await listen(
    createServer((request, response) => void answer(request, response)),
    0,
  );
  return {
    issuer: endpoint,
    claims,
    onNextTokens: (change) => {
      changeTokens = change;
    },
    onNextMetadata: (change) => {
      changeMetadata = change;
    },
    stop,
  };
}
