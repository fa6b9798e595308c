import { AddressError, serverAddress } from 'computation-management-client';
import { neverProxyLoopback } from 'computation-management-client/node';
import { shellWord } from 'computation-management-words';
import type { Profile } from '../profile/profile.ts';
import { profileOption } from '../profile/token.ts';
import { type CmsError, errorOf, UsageError } from '../terminal/cms-error.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The service and the domain that a command works with. */
export interface Target {
  server: string;
  domain: string | undefined;
  profile: Profile | undefined;
  isLocal: boolean;
}

/** Returns the address at which `npm start` listens on this machine. Its port is that of the variable PORT, or 3000. */
export function localServerOf({ PORT = '' }: Terminal['env']): string {
  return `http://localhost:${/^\d{1,5}$/.test(PORT) && Number(PORT) < 65_536 ? PORT : '3000'}`;
}

/**
 * Returns the options `--server`, `--domain` and `--profile` of a command line as they were given, to repeat them in a command to type
 * next.
 */
export function targetOptions(options: { server?: string; domain?: string; profile?: string }): string {
  const given = (['server', 'domain', 'profile'] as const).map((name) => {
    const value = options[name];
    return value === undefined ? '' : ` --${name} ${shellWord(value)}`;
  });
  return given.join('');
}

/** Returns the error of a command that needs a login and finds none, with the command that logs in. */
export function notLoggedIn(
  given: Pick<Target, 'server' | 'isLocal' | 'profile'> & { isDefault: boolean; profileName: string; options: object },
): CmsError {
  const { server, isLocal, isDefault, profile, profileName } = given;
  const orElse = ['server', 'profile'].map((name) => (name in given.options ? ` Log in, or leave out --${name}.` : '')).join('');
  const inProfile = profileName === 'default' ? '' : ` in the profile ${profileName}`;
  const elsewhere = profile ? ` Your login${inProfile} is for ${profile.server}.` : '';
  const options = `${isDefault ? '' : ` --server ${shellWord(server)}`}${profileOption(profileName)}`;
  return errorOf(
    'notLoggedIn',
    `You are not logged in to ${server}${profile ? '' : inProfile}.${elsewhere}${orElse}`,
    isLocal
      ? `cms login --local --user ${profile ? shellWord(profile.user) : 'USER'}${options}`
      : `cms login${options} --issuer URL --client-id ID --domain DOMAIN`,
  );
}

/** Returns the name of the environment variable that names a proxy, or undefined if none is set. */
export function proxyVariable(env: Terminal['env']): string | undefined {
  return ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].find((name) => env[name]);
}

/** Sends the requests of this process through the proxies that the environment names. @throws CmsError with the name of a wrong variable */
export function useProxies(env: Terminal['env']): void {
  try {
    if (proxyVariable(env) !== undefined) neverProxyLoopback({ ...env, NODE_USE_ENV_PROXY: '1' });
  } catch (cause) {
    throw cause instanceof AddressError ? new UsageError(cause.message, undefined, cause) : cause;
  }
}

/**
 * Returns a parser of server addresses. The parser throws a CmsError, which never repeats the address, because an address may contain a
 * password.
 */
export function addressOf(name: string): (text: string) => string {
  return (text) => {
    try {
      const { search, hash } = serverAddress(text);
      if (search === '' && hash === '') return text;
      throw new AddressError('Expected an address without a query.');
    } catch (cause) {
      if (!(cause instanceof AddressError)) throw cause;
      throw new UsageError(`${name}: ${cause.message}`, undefined, cause);
    }
  };
}
