import { shellWord } from '../output/shell-word.ts';
import type { Credentials } from './profile.ts';

/** Returns the command with which a user logs in as before. */
export function loginAgain(profileName: string, kind: Credentials['kind'] | 'variable' | undefined): string {
  return `cms login${kind === 'token' ? ' --token TOKEN' : ''}${profileOption(profileName)}`;
}

/** Returns the command that logs in at the service of `npm start` as another user, or with another role. */
export function localLogin(
  profileName: string,
  { user, domain, loginServer }: { user: string; domain?: string; loginServer: string | undefined },
): string {
  const at = loginServer === undefined ? '' : ` --server ${shellWord(loginServer)}`;
  const place = `${domain === undefined ? '' : ` --domain ${shellWord(domain)}`}${at}`;
  return `cms login --local --user ${shellWord(user)}${place}${profileOption(profileName)}`;
}

/** Returns the option that names the profile, unless it is the usual one. */
export function profileOption(profileName: string): string {
  return profileName === 'default' ? '' : ` --profile ${shellWord(profileName)}`;
}
