import { readClaims, ServiceProblem, type TokenSet, type TokenSource } from 'computation-management-client';
import { parseMembership, type Role } from 'computation-management-formats/vocabulary';

interface Parts {
  /** Returns a token of the user, renewed by the issuer if the token is about to expire or was refused. */
  renewed: TokenSource;
  /** Leaves the console for the issuer's sign-in page. Never returns, but may throw. */
  leave: () => Promise<never>;
  /** Shows a page that says why nobody is signed in. Never returns. */
  stayOutside: (text: string) => Promise<never>;
  /** The time at which the API last refused a token, in milliseconds since 1970. It tells whether signing in again has helped. */
  refusal: Stored<number>;
  /** Returns whether leaving the page would lose what the user has typed, or an upload. */
  hasWork: () => boolean;
  /** Called instead of leaving for the sign-in page while there is unsaved work. */
  onExpired: () => void;
}

const minuteInMilliseconds = 60_000;

/**
 * Returns the source of access tokens that `Session.token` describes. While the user has unsaved work, the source does not leave the page,
 * but throws ServiceProblem `unauthenticated`. It also throws if the issuer does not answer.
 */
export function tokenSource({ renewed, leave, stayOutside, refusal, hasWork, onExpired }: Parts): TokenSource {
  let leaving: Promise<never> | undefined;
  const signInAgain = () => (leaving ??= leave().finally(() => (leaving = undefined)));
  const answerRefusal = () => {
    if (leaving) return leaving; // another request has waited for the same renewal
    const before = refusal.read() ?? 0;
    refusal.write(Date.now());
    if (Date.now() - before >= minuteInMilliseconds) {
      return signInAgain().catch((error: unknown) => {
        refusal.remove(); // the user has not signed in again
        throw error;
      });
    }
    return (leaving = stayOutside('The service refuses the token that your sign-in gave. Ask the operator of the service.'));
  };
  const unlessThereIsWork = async (go: () => Promise<never>) => {
    if (!hasWork()) return await go();
    onExpired();
    throw new ServiceProblem({ status: 401, code: 'unauthenticated', detail: 'Your sign-in has expired.', request: 'token' });
  };
  /** The renewed access token that replaced the latest refused one. If the API refuses it too, renewing does not help. */
  let second: string | undefined;
  return async ({ refused, signal }) => {
    if (leaving) return await leaving;
    if (refused !== undefined && refused === second) return await unlessThereIsWork(answerRefusal);
    try {
      if (refused === undefined) return await renewed({ signal });
      return (second = await renewed({ refused, signal }));
    } catch (error) {
      if (!(error instanceof ServiceProblem) || error.code !== 'unauthenticated') throw error;
      return await unlessThereIsWork(refused === undefined ? signInAgain : answerRefusal);
    }
  };
}

/** The tokens of the user, in the storage of the tab. */
export const storedTokens = stored<TokenSet>('tokens');

type Stored<Value> = ReturnType<typeof stored<Value>>;

/**
 * Returns a value in the storage of the tab. The value survives a reload and a redirect, and ends with the tab. Other tabs do not see it, so
 * each tab may have its own user. A duplicate of the tab begins with a copy.
 * @param name the name of the value: its key in the storage is `console.` and the name
 */
export function stored<Value>(name: string) {
  const key = `console.${name}`;
  return {
    read: () => (JSON.parse(sessionStorage.getItem(key) ?? 'null') as Value | null) ?? undefined,
    write: (value: Value) => sessionStorage.setItem(key, JSON.stringify(value)),
    remove: () => sessionStorage.removeItem(key),
  };
}

/**
 * Reads the user and the roles by domain in an access token. The console shows them; only the API decides by them.
 * @throws Error if it is not a JWT that names a user
 */
export function identityOf(token: string, membershipClaim: string) {
  const claims = readClaims(token);
  if (claims === undefined) throw new Error('The issuer gave an access token that is not a JWT.');
  const user = claims['sub'];
  if (typeof user !== 'string') throw new Error('The access token names no user.');
  const roles = Object.create(null) as Record<string, Role[]>; // a domain may be called `constructor`
  for (const text of textsOf(claims[membershipClaim])) {
    const membership = parseMembership(text);
    if (membership === undefined) continue;
    const ofDomain = (roles[membership.domain] ??= []);
    if (!ofDomain.includes(membership.role)) ofDomain.push(membership.role);
  }
  return { user, roles };
}

function textsOf(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.filter((entry) => typeof entry === 'string');
  return typeof claim === 'string' ? claim.split(' ') : [];
}
