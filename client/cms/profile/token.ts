import { CmsError } from '../cms-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { claimsOf } from './claims.ts';
import { localToken } from './local-token.ts';
import type { Profile } from './profile.ts';
import type { Profiles } from './profiles.ts';

/** A token is renewed this long before it expires. */
const reserveInSeconds = 30;

/** Returns the source of a profile's tokens, which renews and stores them. */
export function tokenOf(profiles: Profiles, name: string): (options: { refused?: string }) => Promise<string> {
  return async ({ refused }) => {
    const profile = await profiles.read(name);
    if (!profile) throw loginAgain('You are not logged in.');
    const isFresh = profile.expires_at - reserveInSeconds > Date.now() / 1_000;
    if (isFresh && profile.access_token !== refused) return profile.access_token;
    const renewed = await renew(profile);
    await profiles.write(name, renewed);
    return renewed.access_token;
  };
}

/** @throws CmsError if the user must log in again */
async function renew(profile: Profile): Promise<Profile> {
  const { credentials, server, domain } = profile;
  switch (credentials.kind) {
    case 'local':
      return withToken(profile, await localToken(server, { domain, ...credentials }));
    case 'token':
      throw loginAgain('Your token has expired or is not accepted.');
    case 'issuer':
      throw loginAgain('TODO');
  }
}

/** Returns a profile with another token. */
export function withToken(profile: Profile, access_token: string): Profile {
  return { ...profile, access_token, expires_at: claimsOf(access_token).exp ?? Number.MAX_SAFE_INTEGER };
}

function loginAgain(message: string): CmsError {
  return new CmsError(message, { next: 'cms login', exitCode: exitCodes.notLoggedIn });
}
