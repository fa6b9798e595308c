import { clientCredentials, issueLocalToken, type IssuerOptions, readClaims, refreshTokens } from 'computation-management-client';
import { parseMembership } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { shellWord } from 'computation-management-words';
import { errorOf } from '../terminal/cms-error.ts';
import { noting } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Credentials, Profile, Profiles } from './profile.ts';

/** The seconds before its expiry from which a token is renewed. */
const reserveInSeconds = 30;
const graceInMilliseconds = 2_000;
const secretVariable = 'CMS_CLIENT_SECRET';

/** Returns the source of a profile's access tokens, which renews and stores the tokens. */
export function tokenOf(
  profiles: Profiles,
  name: string,
  terminal: Pick<Terminal, 'env' | 'signal'> & { noteWait: (text: string) => void },
): (options: { refused?: string }) => Promise<string> {
  let renewing: Promise<Profile> | undefined;
  return async ({ refused }) => {
    const profile = await profiles.read(name);
    if (!profile) throw errorOf('notLoggedIn', 'You are not logged in.', loginAgain(name, undefined));
    if (isFresh(profile) && profile.access_token !== refused) return profile.access_token;
    renewing ??= renewAndStore(profile).finally(() => (renewing = undefined));
    return (await renewing).access_token;
  };

  /**
   * Renews the token of a profile and stores it, while no other command does: a refresh token may work only once. The token that another
   * command has renewed meanwhile counts.
   */
  async function renewAndStore(before: Profile): Promise<Profile> {
    const work = async () => {
      const profile = await profiles.read(name);
      if (!profile) throw errorOf('notLoggedIn', 'You are not logged in.', loginAgain(name, undefined));
      if (profile.access_token !== before.access_token && isFresh(profile)) return profile;
      const renewed = await renew(profile, name, terminal);
      const { user, access_token, expires_at, credentials } = renewed;
      const change = { user, access_token, expires_at, credentials };
      // Another command may have logged in or out, or chosen a computation.
      await profiles.change(name, (stored) =>
        stored?.access_token === profile.access_token ? { ...stored, ...change } : stored,
      );
      return renewed;
    };
    return await noting(terminal.noteWait, 'Waiting for a new token.\n', () => profiles.renewing(name, work, terminal.signal));
  }
}

/**
 * Returns whether the token of a profile need not be renewed. True for a token that cannot be renewed: then only the service says that it
 * has expired.
 */
function isFresh({ credentials, expires_at }: Profile): boolean {
  return credentials.kind === 'token' || expires_at - reserveInSeconds > Date.now() / 1_000;
}

/** Renews the token of a profile. @throws CmsError if the user must log in again; ServiceProblem; the reason of an interruption */
async function renew(profile: Profile, name: string, terminal: Pick<Terminal, 'env' | 'signal'>): Promise<Profile> {
  const { credentials, server, domain, access_token, expires_at } = profile;
  switch (credentials.kind) {
    case 'local':
      return withToken(profile, await tokenOfLocal(server, domain, credentials, terminal.signal));
    case 'program':
      return withToken(profile, await tokenOfProgram(credentials, terminal));
    case 'issuer': {
      const { refresh_token } = credentials;
      const before = { access_token, expires_at, ...(refresh_token === undefined ? {} : { refresh_token }) };
      const tokens = await refreshTokens(issuerOf(credentials), before, later(terminal.signal));
      const kept = tokens.refresh_token === undefined ? {} : { refresh_token: tokens.refresh_token };
      return withToken({ ...profile, credentials: { ...credentials, ...kept } }, tokens.access_token);
    }
    case 'token':
      throw errorOf('notLoggedIn', 'Your token has expired or is not accepted.', loginAgain(name, 'token'));
  }
}

/**
 * Returns a profile with an access token that was just issued. The expiry of the token is stored by the clock of this machine, which may be
 * wrong.
 */
export function withToken(profile: Profile, access_token: string): Profile {
  const now = Math.floor(Date.now() / 1_000);
  const { exp = Number.MAX_SAFE_INTEGER, iat = now, sub } = claimsOf(access_token);
  return { ...profile, user: sub, access_token, expires_at: exp - iat + now };
}

/** Fetches a token from the service of `npm start`, without a password. @throws ServiceProblem */
export function tokenOfLocal(
  server: string,
  domain: string,
  { user, roles }: Pick<Extract<Credentials, { kind: 'local' }>, 'user' | 'roles'>,
  signal?: AbortSignal,
): Promise<string> {
  return issueLocalToken({ baseUrl: server, sub: user, groups: roles.map((role) => `${domain}:${role}`), signal });
}

/**
 * Fetches an access token for a program that logs in as itself.
 * @throws CmsError without the secret in the environment; ServiceProblem; the reason of an interruption
 */
export async function tokenOfProgram(
  credentials: Extract<Credentials, { kind: 'program' }>,
  { env, signal }: Pick<Terminal, 'env' | 'signal'>,
): Promise<string> {
  const clientSecret = env[secretVariable];
  if (!clientSecret) {
    const message = `Set ${secretVariable} to the secret of ${credentials.client_id}.`;
    throw errorOf('notLoggedIn', message, `export ${secretVariable}=SECRET`);
  }
  const untilInterrupted = (url: string, init: RequestInit = {}) =>
    fetch(url, { ...init, signal: AbortSignal.any([signal, ...(init.signal ? [init.signal] : [])]) });
  return await clientCredentials({ ...issuerOf(credentials), clientSecret, fetch: untilInterrupted })({ signal });
}

/**
 * Returns a signal that aborts a moment after another signal. An issuer that gets a refresh token answers with the next one, and takes the
 * first one no more: an answer that comes within the moment must be stored.
 */
function later(signal: AbortSignal): AbortSignal {
  if (signal.aborted) return signal;
  const ending = new AbortController();
  const end = () => ending.abort(signal.reason);
  signal.addEventListener('abort', () => setTimeout(end, graceInMilliseconds).unref(), { once: true });
  return ending.signal;
}

/** Returns the issuer of stored credentials, as the client takes it. */
export function issuerOf({ issuer, client_id, scope }: { issuer: string; client_id: string; scope?: string }): IssuerOptions {
  return { issuer, clientId: client_id, scope };
}

const claimsSchema = v.looseObject({ sub: v.string(), exp: v.optional(v.number()), iat: v.optional(v.number()) });
type Claims = v.InferOutput<typeof claimsSchema>;

/** Returns an access token that the user copied, without blanks or `Bearer` around it. */
export function trimmedToken(text: string): string {
  return text.trim().replace(/^Bearer\s+/i, '');
}

const jsonWebToken = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Reads the claims of a token. Does not verify it: the service does.
 * @param next the command to type if it is no JSON Web Token
 * @throws CmsError if it is no JSON Web Token
 */
export function claimsOf(token: string, next = 'cms login'): Claims {
  const claims = v.safeParse(claimsSchema, jsonWebToken.test(token) ? readClaims(token) : undefined);
  if (claims.success) return claims.output;
  throw errorOf('notLoggedIn', 'The token is not a JSON Web Token with a user (sub).', next);
}

/** Lists the memberships in an access token, `<domainID>:<role>`, whatever claim of the token has them. */
export function membershipsOf(claims: Claims): string[] {
  return Object.values(claims)
    .flat()
    .filter((value) => typeof value === 'string')
    .filter((value) => parseMembership(value) !== undefined);
}

/** Returns the command with which a user logs in again in the same way. */
export function loginAgain(profileName: string, kind: Credentials['kind'] | 'variable' | undefined): string {
  return `cms login${kind === 'token' ? ' --token TOKEN' : ''}${profileOption(profileName)}`;
}

/** Returns the option that names a profile in a command, or an empty text for the default profile. */
export function profileOption(profileName: string): string {
  return profileName === 'default' ? '' : ` --profile ${shellWord(profileName)}`;
}
