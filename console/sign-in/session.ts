import {
  beginSignIn,
  completeSignIn,
  type PendingSignIn,
  ServiceProblem,
  signedIn,
  type SignInOptions,
  signOutPage,
  type TokenSet,
} from '../../client/index.ts';
import type { Role } from '../../shared/access/roles.ts';
import { identityOf } from './claims.ts';
import { type Configuration, configuration } from './configuration.ts';
import { showNotice } from './notice.ts';
import { hasTexts, stored } from './stored.ts';
import { storedTokens } from './tokens.ts';

/** The user who is signed in. */
export interface Session {
  /** The user's identifier in the API: the claim `sub`. */
  user: string;
  /** The user's roles by domain, such as `{ d1: ['viewer'] }`. For display: only the API decides what is allowed. */
  roles: Record<string, Role[]>;
  /** The base URL of the API, without a slash at its end. */
  api: string;
  /**
   * Returns a token for the API, and renews it if it is about to expire. If the API has refused one, or the issuer does not renew it,
   * it leaves for the sign-in page, which comes back to this address.
   * @throws ServiceProblem if the issuer does not answer
   */
  token: (request: { refused?: string; signal: AbortSignal }) => Promise<string>;
  signOut: () => Promise<void>;
}

/** A sign-in that waits for the issuer's answer, and where the user was when it began. */
const pending = stored<PendingSignIn & { returnTo: string }>('sign-in', (content) =>
  hasTexts(content, ['url', 'verifier', 'state', 'nonce', 'returnTo']) ? content : undefined,
);

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
    const { api, membershipClaim, ...issuer } = await configuration();
    const application = applicationOf(issuer);
    const token = tokenSource(application, await tokensFor(address, application));
    const { user, roles } = identityOf(await token({ signal: new AbortController().signal }), membershipClaim);
    return { user, roles, api, token, signOut: () => signOut(application) };
  } catch (error) {
    if (!(error instanceof ServiceProblem && error.code === 'unreachable')) storedTokens.remove();
    const text = error instanceof Error ? error.message : String(error);
    return await stay({ title: 'You are not signed in', text, link: 'Try again' });
  }
}

function applicationOf({ issuer, clientId, scopes }: Pick<Configuration, 'issuer' | 'clientId' | 'scopes'>): SignInOptions {
  return { issuer, clientId, scope: scopes, redirectUri: new URL('/console/', location.origin).href };
}

/** Returns the tokens for the issuer's answer, or those of this tab. */
async function tokensFor(address: URL, application: SignInOptions): Promise<TokenSet> {
  const isAnswer = address.searchParams.has('state') && (address.searchParams.has('code') || address.searchParams.has('error'));
  const asked = pending.read();
  if (isAnswer && asked) {
    pending.remove();
    const tokens = await completeSignIn(application, asked, address);
    storedTokens.write(tokens);
    history.replaceState(null, '', asked.returnTo);
    return tokens;
  }
  if (isAnswer) history.replaceState(null, '', '/console/'); // an answer that was used before, reached by Back or a bookmark
  return storedTokens.read() ?? (await leave(application));
}

function tokenSource(application: SignInOptions, tokens: TokenSet): Session['token'] {
  const source = signedIn(application, tokens, (renewed) => storedTokens.write(renewed));
  let leaving: Promise<never> | undefined;
  const signInAgain = () => (leaving ??= leave(application).finally(() => (leaving = undefined)));
  return async ({ refused, signal }) => {
    if (refused !== undefined) return await signInAgain();
    try {
      return await source({ signal });
    } catch (error) {
      if (error instanceof ServiceProblem && error.code === 'unauthenticated') return await signInAgain();
      throw error;
    }
  };
}

/** Leaves for the issuer's page. Never returns, because the page is about to be replaced. */
async function leave(application: SignInOptions): Promise<never> {
  storedTokens.remove();
  const asked = await beginSignIn(application);
  pending.write({ ...asked, returnTo: `${location.pathname}${location.search}${location.hash}` });
  location.replace(asked.url); // so that Back does not lead to an address that only signs in again
  return await never();
}

async function signOut(application: SignInOptions): Promise<void> {
  const tokens = storedTokens.read();
  storedTokens.remove();
  const returnTo = new URL(signedOut, location.origin).href;
  // Whether the issuer answers or not, this tab has no token any more.
  const page = tokens && (await signOutPage({ ...application, returnTo }, tokens).catch(() => undefined));
  location.assign(page ?? signedOut);
}

async function stay(notice: Parameters<typeof showNotice>[0]): Promise<never> {
  showNotice(notice);
  return await never();
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
