import { InvalidArgumentError, type Command } from 'commander';
import type { Act } from '../act.ts';
import { CmsError } from '../cms-error.ts';
import type { Context } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { details } from '../output/details.ts';
import { relativeTime } from '../output/relative-time.ts';
import { claimsOf, membershipsOf } from '../profile/claims.ts';
import { localRoles, localToken } from '../profile/local-token.ts';
import type { Credentials, Profile } from '../profile/profile.ts';
import { withToken } from '../profile/token.ts';

interface Options {
  local?: boolean;
  user?: string;
  role?: string[];
  token?: string;
  issuer?: string;
  clientId?: string;
  scope?: string;
  device?: boolean;
}

export function addLoginCommands(program: Command, act: Act): void {
  program
    .command('login')
    .description('log in, and store the login in a profile')
    .option('--local', 'at the service of npm start, without a password')
    .option('--user <USER>', 'with --local: the user to be (default: your name on this machine)')
    .option('--role <ROLE...>', `with --local: the roles to have (default: administrator)`, collectRole)
    .option('--issuer <URL>', 'the OpenID Connect issuer of the stage')
    .option('--client-id <ID>', 'the client that the issuer knows cms as')
    .option('--scope <SCOPE>', 'what to ask the issuer for')
    .option('--device', 'show a code to type on another device, without a browser here')
    .option('--token <TOKEN>', 'use this token, such as one for a script; - reads it from standard input')
    .action(
      act(async (context, options: Options) => {
        const { server, domain: chosen, profile: before } = await context.place();
        const local = before?.credentials.kind === 'local' && before.server === server ? before.credentials : undefined;
        const domain = chosen ?? (options.local === true ? 'd1' : undefined);
        if (domain === undefined) {
          throw new CmsError('Choose a domain.', { next: 'cms login --domain DOMAIN ...', exitCode: exitCodes.usage });
        }
        const base = { server, domain, user: '', access_token: '', expires_at: 0 };
        const profile = await loggedIn(context, { ...base, credentials: { kind: 'token' } }, options, local);
        await context.profiles.write(context.profileName, profile);
        const roles = rolesIn(profile);
        context.print(
          { user: profile.user, server, domain, roles, profile: context.profileName },
          () => `Logged in to ${server} as ${profile.user}, ${roles.join(', ') || 'without a role'} in the domain ${domain}.\n`,
        );
      }),
    );

  program
    .command('logout')
    .description('remove the login of the profile from this machine')
    .action(
      act(async (context) => {
        const removed = await context.profiles.remove(context.profileName);
        context.print({ removed }, () => (removed ? 'Logged out.\n' : 'You were not logged in.\n'));
      }),
    );

  program
    .command('whoami')
    .description('show the user, the roles and the service of this login')
    .action(
      act(async (context) => {
        const { server, domain, user, profile } = await context.connect();
        const token = context.terminal.env['CMS_TOKEN'] || profile?.access_token || '';
        const claims = claimsOf(token);
        const roles = membershipsOf(claims);
        const expires = claims.exp === undefined ? undefined : new Date(claims.exp * 1_000).toISOString();
        context.print({ user, server, domain, memberships: roles, expires_at: expires }, () =>
          details([
            ['User', user],
            ['Service', server],
            ['Domain', domain],
            ['Memberships', roles],
            ['Token', expires && `expires ${relativeTime(expires, context.terminal.now())}`],
            ['Computation', profile?.computation],
            ['Profile', `${context.profileName}, in ${context.profiles.file}`],
          ]),
        );
      }),
    );
}

type Local = Extract<Credentials, { kind: 'local' }>;

async function loggedIn(context: Context, profile: Profile, options: Options, before: Local | undefined): Promise<Profile> {
  const { server, domain } = profile;
  if (options.token !== undefined) return signedIn(profile, options.token, { kind: 'token' });
  if (options.local === true || (before && options.issuer === undefined)) {
    const user = options.user ?? before?.user ?? context.terminal.userName;
    const roles = options.role ?? (before?.user === user ? before.roles : ['administrator']);
    return signedIn(profile, await localToken(server, { user, domain, roles }), { kind: 'local', user, roles });
  }
  throw new CmsError('Not yet.');
}

function signedIn(profile: Profile, token: string, credentials: Credentials): Profile {
  return { ...withToken(profile, token), user: claimsOf(token).sub, credentials };
}

function rolesIn({ access_token, domain }: Profile): string[] {
  return membershipsOf(claimsOf(access_token))
    .filter((membership) => membership.startsWith(`${domain}:`))
    .map((membership) => membership.slice(domain.length + 1));
}

function collectRole(text: string, before: string[] | undefined): string[] {
  if (!localRoles.some((role) => role === text)) throw new InvalidArgumentError(`Expected one of ${localRoles.join(', ')}.`);
  return [...(before ?? []), text];
}
