import type { Role } from '../../shared/access/roles.ts';
import { type Authorization, openAuthorization } from './authorization.ts';
import { identityOf } from './claims.ts';
import { configuration } from './configuration.ts';
import { showNotice } from './notice.ts';
import { isFresh, storedTokens, type Tokens } from './tokens.ts';

/** The user who is signed in. */
export interface Session {
  /** The user's identifier in the API: the claim `sub`. */
  user: string;
  /** The user's roles by domain, such as `{ d1: ['viewer'] }`. For display: only the API decides what is allowed. */
  roles: Record<string, Role[]>;
  /** The base URL of the API, without a slash at its end. */
  api: string;
  /** Returns a token for the API, and renews it if it is about to expire. Leaves for the sign-in page if that fails. */
  token(): Promise<string>;
  /** Leaves for the sign-in page, and comes back to this address. For a 401 of the API. */
  signInAgain(): Promise<never>;
  signOut(): void;
}

/** The address after signing out. Without the parameter, the console would sign in again at once. */
const signedOut = '/console/?signed-out';

/**
 * Returns the session of this tab's user. Signs the user in if there is none: leaves for the issuer, and comes back to the same
 * address. Call it once, before the router reads the address. If nobody is signed in, it shows a page that says why, and does not
 * return.
 */
export async function currentSession(): Promise<Session> {
  const address = new URL(location.href);
  if (address.searchParams.has('signed-out')) {
    return await stay({ title: 'You are signed out', text: 'Your tokens are removed from this tab.', link: 'Sign in' });
  }
  try {
    const { api, membershipClaim } = await configuration();
    const authorization = await openAuthorization(await configuration());
    const tokens = await tokensFor(address, authorization);
    const { user, roles } = identityOf(tokens.access, membershipClaim);
    return { user, roles, api, ...changesOf(authorization) };
  } catch (error) {
    storedTokens.remove();
    return await stay({ title: 'You are not signed in', text: reasonOf(error), link: 'Try again' });
  }
}

async function tokensFor(address: URL, authorization: Authorization): Promise<Tokens> {
  const isAnswer = address.searchParams.has('state') && (address.searchParams.has('code') || address.searchParams.has('error'));
  if (isAnswer && authorization.isPending()) {
    const { tokens, returnTo } = await authorization.complete(address);
    storedTokens.write(tokens);
    history.replaceState(null, '', returnTo);
    return tokens;
  }
  if (isAnswer) history.replaceState(null, '', '/console/'); // an answer that was used before, reached by Back or a bookmark
  return (await freshTokens(authorization)) ?? (await leave(authorization));
}

async function freshTokens(authorization: Authorization): Promise<Tokens | undefined> {
  const tokens = storedTokens.read();
  if (tokens === undefined || isFresh(tokens)) return tokens;
  const renewed = await authorization.refresh(tokens);
  if (renewed) storedTokens.write(renewed);
  return renewed;
}

function changesOf(authorization: Authorization): Pick<Session, 'token' | 'signInAgain' | 'signOut'> {
  let renewing: Promise<Tokens | undefined> | undefined;
  return {
    token: async () => {
      renewing ??= freshTokens(authorization).finally(() => {
        renewing = undefined;
      });
      const { access } = (await renewing) ?? (await leave(authorization));
      return access;
    },
    signInAgain: () => leave(authorization),
    signOut: () => {
      const tokens = storedTokens.read();
      storedTokens.remove();
      location.assign((tokens && authorization.endOfSession(tokens, signedOut)) ?? signedOut);
    },
  };
}

/** Never returns, because the page is about to be replaced. */
async function leave(authorization: Authorization): Promise<never> {
  storedTokens.remove();
  await authorization.begin(`${location.pathname}${location.search}${location.hash}`);
  return await never();
}

async function stay(notice: Parameters<typeof showNotice>[0]): Promise<never> {
  showNotice(notice);
  return await never();
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const described = 'error_description' in error ? String(error.error_description) : '';
  return described || error.message;
}
