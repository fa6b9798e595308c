import type { TokenSource } from '../retrying-fetch.ts';

interface Expiring {
  access_token: string;
  /** Unix seconds. */
  expires_at: number;
}

/** A token is renewed this long before it expires. */
const reserveInSeconds = 30;

/**
 * Returns a source of tokens that keeps one until shortly before it expires, or until it is refused. Callers at the same time wait
 * for the same new one.
 * @param renew gets the token that it replaces
 */
export function keptToken<Kept extends Expiring>(
  renew: (previous: Kept | undefined) => Promise<Kept>,
  first?: Kept,
): TokenSource {
  let kept = first;
  let renewing: Promise<Kept> | undefined;
  return async ({ refused }) => {
    const isFresh = kept && kept.expires_at - reserveInSeconds > Date.now() / 1_000 && kept.access_token !== refused;
    if (kept && isFresh) return kept.access_token;
    renewing ??= renew(kept).finally(() => (renewing = undefined));
    kept = await renewing;
    return kept.access_token;
  };
}
