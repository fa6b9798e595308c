import type { TokenEndpointResponse } from 'oauth4webapi';

/** What an issuer gave. */
export interface TokenSet {
  access_token: string;
  /** Unix seconds. */
  expires_at: number;
  refresh_token?: string;
  id_token?: string;
}

const lifetimeInSecondsIfUnnamed = 300;

export function tokenSetOf(response: TokenEndpointResponse): TokenSet {
  const { access_token, expires_in = lifetimeInSecondsIfUnnamed, refresh_token, id_token } = response;
  return {
    access_token,
    expires_at: Math.floor(Date.now() / 1_000) + expires_in,
    ...(refresh_token === undefined ? {} : { refresh_token }),
    ...(id_token === undefined ? {} : { id_token }),
  };
}
