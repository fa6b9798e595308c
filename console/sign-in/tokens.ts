import { hasTexts, stored } from './stored.ts';

export interface Tokens {
  access: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  refresh?: string;
  id?: string;
}

/** The tokens of this tab's user. */
export const storedTokens = stored<Tokens>('tokens', (content) => {
  if (!hasTexts(content, ['access'])) return undefined;
  const { access, expiresAt, refresh, id } = content as Record<string, unknown> & { access: string };
  if (typeof expiresAt !== 'number') return undefined;
  return {
    access,
    expiresAt,
    ...(typeof refresh === 'string' ? { refresh } : {}),
    ...(typeof id === 'string' ? { id } : {}),
  };
});

/** A token this close to its end is renewed, so that a request still arrives in time. */
const marginInMilliseconds = 60_000;

export function isFresh({ expiresAt }: Tokens): boolean {
  return Date.now() < expiresAt - marginInMilliseconds;
}
