import { ServiceProblem, type TokenSource } from 'computation-management-client';
import type { Stored } from './stored.ts';

interface Parts {
  /** Renews the tokens. */
  renewed: TokenSource;
  /** Leaves for the issuer's page. Never returns, but may throw. */
  leave: () => Promise<never>;
  /** Shows a page that says why nobody is signed in. */
  stayOutside: (text: string) => Promise<never>;
  /** When the API last refused a token, in milliseconds since 1970. It tells whether signing in again has helped. */
  refusal: Stored<number>;
  /** Whether leaving the page would lose what the user has typed, or an upload. */
  hasWork: () => boolean;
  /** Called instead of leaving, while there is work. */
  onExpired: () => void;
}

const minuteInMilliseconds = 60_000;

/**
 * Returns the source of tokens that Session describes. While the user has work that leaving would lose, it does not leave.
 * @throws ServiceProblem `unauthenticated` then; or if the issuer does not answer
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
    throw new ServiceProblem({
      status: 401,
      code: 'unauthenticated',
      detail: 'Your sign-in has expired.',
      request: 'token',
    });
  };
  /** The token that replaced a refused one. */
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
