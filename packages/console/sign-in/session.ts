import {
  beginSignIn,
  completeSignIn,
  isTransient,
  type PendingSignIn,
  ServiceProblem,
  signedIn,
  type SignInOptions,
  signOutPage,
  type TokenSet,
} from 'computation-management-client';
import { ask } from '../routing/navigation.ts';
import { abandonWork, hasWork, mayEndUpload, mayLeave } from '../routing/unsaved-work.ts';
import { identityOf, stored, storedTokens, tokenSource } from './tokens.ts';

/** The session of the user who is signed in to the console. */
export type Session = Awaited<ReturnType<typeof currentSession>>;

/**
 * The sign-in that waits for the issuer's answer, with the address of the console at which the sign-in began. Kept in the storage of the
 * tab.
 */
const pending = stored<PendingSignIn & { returnTo: string }>('sign-in');

/** The time at which the API last refused a token, in milliseconds since 1970. It tells whether signing in again has helped. */
const refusal = stored<number>('refused');

/** The address of the console after signing out. Without the parameter, the console would sign the user in again at once. */
const signedOut = '/console/?signed-out';

/**
 * Returns the session of this tab's user. Signs the user in if there is none: leaves for the issuer, and comes back to the same
 * address. Call it once, before the router reads the address. If nobody is signed in, it shows a page that says why, and does not
 * return.
 */
export async function currentSession() {
  const address = new URL(location.href);
  if (address.searchParams.has('signed-out')) {
    storedTokens.remove();
    const text = 'Your tokens are removed from this tab.';
    return await stay({ title: 'You are signed out', text, link: 'Sign in', address: '/console/' });
  }
  neverShowAgainWithoutTokens();
  try {
    await leaveTokensToOtherTab();
    const { api, membershipClaim, exampleCvm, issuer, clientId, scopes: scope } = await readConfiguration();
    const application = { issuer, clientId, scope, redirectUri: new URL('/console/', location.origin).href };
    const tokens = await tokensFor(address, application);
    const expiry = Promise.withResolvers<undefined>();
    const token = tokenSource({
      renewed: signedIn(application, tokens, (renewed) => storedTokens.write(renewed)),
      leave: () => leave(application),
      stayOutside: (text) => {
        storedTokens.remove();
        return stayOutside(text);
      },
      refusal,
      hasWork,
      onExpired: () => expiry.resolve(undefined),
    });
    const { user, roles } = identityOf(await token({ signal: new AbortController().signal }), membershipClaim);
    return {
      /** The user's identifier in the API: the claim `sub`. */
      user,
      /** The user's roles by domain, such as `{ d1: ['viewer'] }`. For display: only the API decides what is allowed. */
      roles,
      /** The base URL of the API, without a slash at its end. */
      api,
      /** The name of a simulated CVM that takes runs without being registered. Undefined unless CVMs are simulated. */
      exampleCvm,
      /**
       * Returns a token for the API. Renews it if it is about to expire, or if the API has refused it. If the issuer does not renew it,
       * or the API refuses the renewed one too, it leaves for the sign-in page, which comes back to this address. If the API refuses a
       * token again within a minute, signing in again does not help: it shows a page that says so instead. While the user has unsaved
       * work, it does neither, but resolves `expired`.
       * @throws ServiceProblem if the issuer does not answer; `unauthenticated` if it did not leave because of unsaved work
       */
      token,
      /** Resolves when the user has to sign in again but has unsaved work. */
      expired: expiry.promise,
      /** Leaves for the sign-in page, which comes back to the present address. Changes nothing if the user chooses to finish an upload. */
      signInAgain: async () => {
        // The console has told the user that signing in again loses what is typed.
        if (mayEndUpload(ask)) await leave(application);
      },
      /** Signs the user out. Changes nothing if the user chooses to stay with unsaved work. */
      signOut: async () => {
        if (mayLeave(ask)) await signOut(application);
      },
    };
  } catch (error) {
    const isSignedIn = isTransient(error) && storedTokens.read() !== undefined; // the issuer could not be asked
    if (!isSignedIn) storedTokens.remove();
    const title = isSignedIn ? 'Your sign-in could not be checked' : notSignedIn;
    return await stayOutside(error instanceof Error ? error.message : String(error), title);
  }
}

/** The name of the lock that this tab holds while it is open. */
const lock = stored<string>('lock');

/** The time in milliseconds that a reload waits for the lock, which the page before may still hold. */
const longestWaitForLockInMilliseconds = 1_000;

/**
 * Removes the tokens that a tab has from another one, which is open: the browser copies the storage of a tab when the user duplicates it. Many
 * issuers let a refresh token be used once, and end the sign-in of both tabs if it is used again.
 */
async function leaveTokensToOtherTab(): Promise<void> {
  const name = lock.read() ?? crypto.randomUUID();
  lock.write(name);
  if (await isHeld(name)) return;
  storedTokens.remove();
  lock.remove();
  await leaveTokensToOtherTab(); // with a lock of its own
}

/** Takes a lock for as long as the page is shown. @returns whether no other tab has it */
function isHeld(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const hold = () => {
      resolve(true);
      return never();
    };
    const signal = AbortSignal.timeout(longestWaitForLockInMilliseconds);
    navigator.locks.request(name, { signal }, hold).catch((error: unknown) => resolve((error as Error).name !== 'TimeoutError'));
  });
}

/** Reloads the page if the Back button shows it after signing out: the browser has kept the page with its tokens in memory. */
function neverShowAgainWithoutTokens(): void {
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && storedTokens.read() === undefined) location.reload();
  });
}

/** Returns the tokens for the issuer's answer in the address, or the stored tokens of the tab if the address has no answer. */
async function tokensFor(address: URL, application: SignInOptions): Promise<TokenSet> {
  const isAnswer = address.searchParams.has('state') && (address.searchParams.has('code') || address.searchParams.has('error'));
  const asked = pending.read();
  if (isAnswer && asked) {
    pending.remove();
    history.replaceState(null, '', asked.returnTo); // also if the sign-in fails: trying again then leads there
    const tokens = await completeSignIn(application, asked, address);
    storedTokens.write(tokens);
    return tokens;
  }
  if (isAnswer) history.replaceState(null, '', '/console/'); // an answer that was used before, reached by Back or a bookmark
  return storedTokens.read() ?? (await leave(application));
}

/** Leaves the console for the issuer's sign-in page. Never returns, because the page is about to be replaced. */
async function leave(application: SignInOptions): Promise<never> {
  const asked = await beginSignIn(application);
  storedTokens.remove();
  pending.write({ ...asked, returnTo: `${location.pathname}${location.search}${location.hash}` });
  abandonWork();
  location.replace(asked.url); // so that Back does not lead to an address that only signs in again
  return await never();
}

async function signOut(application: SignInOptions): Promise<void> {
  const tokens = storedTokens.read();
  storedTokens.remove();
  const returnTo = new URL(signedOut, location.origin).href;
  // Whether the issuer answers or not, this tab has no token any more.
  const page = tokens && (await signOutPage({ ...application, returnTo }, tokens).catch(() => undefined));
  abandonWork();
  location.assign(page ?? signedOut);
}

const notSignedIn = 'You are not signed in';

/** Shows a page that says why nobody is signed in. Its link tries again, and comes back to the present address. Never returns. */
function stayOutside(text: string, title = notSignedIn): Promise<never> {
  return stay({ title, text, link: 'Try again', address: `${location.pathname}${location.search}` });
}

/** Shows a page with one message and one link instead of the console. The page needs no other part of the console. Never returns. */
async function stay({ title, text, link, address }: Record<'title' | 'text' | 'link' | 'address', string>): Promise<never> {
  document.title = title;
  const main = document.createElement('main');
  main.className = 'sign-in-notice';
  main.append(
    Object.assign(document.createElement('h1'), { textContent: title }),
    Object.assign(document.createElement('p'), { textContent: text }),
    Object.assign(document.createElement('a'), { textContent: link, href: address }),
  );
  document.body.replaceChildren(main);
  return await never();
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** The configuration of a deployment for its console, in `/console/config.json`. */
interface Configuration {
  /** The base URL of the API, without a slash at its end. */
  api: string;
  /** The OpenID Connect issuer of the API's tokens. */
  issuer: string;
  clientId: string;
  /** The scopes to ask for, separated by spaces. */
  scopes: string;
  /** The claim of the access token that contains strings `<domainID>:<role>`. */
  membershipClaim: string;
  /** The name of a simulated CVM that takes runs without being registered. Undefined unless CVMs are simulated. */
  exampleCvm?: string;
}

/** Reads the configuration of the console from the server. @throws Error if the server has none; ServiceProblem if it does not answer */
export async function readConfiguration(): Promise<Configuration> {
  const response = await fetch('/console/config.json', { cache: 'no-store' }).catch((cause: unknown) => {
    const detail = 'The service does not answer.';
    throw new ServiceProblem({ status: 0, code: 'unreachable', detail, request: 'GET config.json' }, cause);
  });
  if (!response.ok) throw new Error(`The console has no configuration: config.json answered ${response.status}.`);
  return (await response.json()) as Configuration;
}
