import { deviceSignIn, ServiceProblem, type TokenSet } from 'computation-management-client';
import { loopbackSignIn } from 'computation-management-client/node';
import { domainId } from 'computation-management-formats/identifiers';
import { printable } from 'computation-management-formats/printable';
import { roles } from 'computation-management-formats/vocabulary';
import { agoText, shellWord, userText } from 'computation-management-words';
import * as v from 'valibot';
import type { Context } from '../context/context.ts';
import { type CmsError, errorOf, UsageError } from '../terminal/cms-error.ts';
import { noting } from '../terminal/progress.ts';
import { details } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { claimsOf, issuerOf, membershipsOf, tokenOfLocal, tokenOfProgram, trimmedToken, withToken } from '../profile/token.ts';
import type { Credentials, Profile } from '../profile/profile.ts';
import { addressOf } from '../context/target.ts';
import { type CmsCommand, given, wholeNumber } from './options.ts';

/** The roles that a user can have. A CVM has the only other one. */
const roleNames = Object.keys(roles).filter((role) => role !== 'cvm');

interface Options {
  local?: boolean;
  user?: string;
  role?: string[];
  token?: string;
  issuer?: string;
  clientId?: string;
  scope?: string;
  device?: boolean;
  port?: number;
}

export function addLoginCommands(program: CmsCommand): void {
  program
    .subcommand('login', 'log in, and store the login in a profile')
    .option('--local', 'log in to the service that npm start runs, without a password')
    .option('--user <USER>', 'with --local: the user (default: your user name on this machine)')
    .choice('--role <ROLE...>', 'with --local: the roles (default: administrator)', roleNames)
    .option('--issuer <URL>', 'the OpenID Connect issuer of the stage')
    .option('--client-id <ID>', 'the client identifier of cms at the issuer')
    .option('--scope <SCOPE>', 'the scopes to request from the issuer')
    .option('--device', 'show a code to type on another device, without a browser here')
    .option('--port <PORT>', 'the local port for the sign-in, if the issuer allows only certain ports', wholeNumber(1))
    .option('--token <TOKEN>', 'store this token as it is; for one command use CMS_TOKEN instead')
    .does(async (context, options: Options) => {
      const { server, domain: chosen, profile: before, isLocal } = await context.target(options.local === true);
      const known = before?.server === server ? before.credentials : undefined;
      const domain = chosen ?? (options.local === true ? 'd1' : undefined);
      if (domain === undefined) {
        const { issuer, token } = options;
        if (isLocal && issuer === undefined && token === undefined) throw howToLogIn(context, options, isLocal);
        throw new UsageError('Choose a domain.', `${context.typed} --domain DOMAIN${lackingOptions(options)}`);
      }
      const isSamePlace = before?.server === server && before.domain === domain;
      const used = given({ computation: isSamePlace ? before.computation : undefined });
      const base = { server, domain, user: '', ...used, access_token: '', expires_at: 0 };
      const logIn = () => loggedIn(context, { ...base, credentials: { kind: 'token' } }, options, known);
      const profile = await noting(context.noteWait, 'Waiting for the login.\n', logIn);
      await context.profiles.change(context.profileName, (stored) => {
        const isSameLogin = stored?.server === server && stored.domain === domain && stored.user === profile.user;
        if (!isSameLogin) return profile;
        // What this user approved and trusts was kept on this machine so that the service has no say in it.
        const { approved, keys, evidence_key } = stored;
        return { ...profile, ...given({ approved, keys, evidence_key }) };
      });
      const roles = rolesIn(profile);
      context.print(
        { user: profile.user, server, domain, roles, profile: context.profileName },
        () =>
          `Logged in to ${server} as ${userText(profile.user)}, ${printable(roles.join(', ')) || 'without a role'} in the domain ${domain}.\n`,
      );
      if (before && (before.user !== profile.user || before.server !== server)) {
        const whose = `${userText(before.user)}${before.server === server ? '' : ` at ${before.server}`}`;
        context.note(
          `This replaces the login of ${whose}. To keep both, name another profile: --profile NAME, or CMS_PROFILE.\n`,
        );
      }
      if (context.terminal.env['CMS_TOKEN']) {
        context.note('CMS_TOKEN is set: other commands use that token, and not this login.\nNext: env -u CMS_TOKEN cms whoami\n');
      }
    });

  program.subcommand('logout', 'remove the login of the profile from this machine').does(async (context) => {
    let removed = false;
    await context.profiles.change(context.profileName, (before) => {
      removed = before !== undefined;
      return undefined;
    });
    context.print({ removed }, () => (removed ? 'Logged out.\n' : 'You were not logged in.\n'));
  });

  program.subcommand('whoami', 'show the user, the roles and the service of this login').connected(async (context) => {
    const { server, domain, user, profile } = context;
    const token = trimmedToken(context.terminal.env['CMS_TOKEN'] ?? '') || profile?.access_token || '';
    const claims = claimsOf(token);
    const roles = membershipsOf(claims);
    const expires = claims.exp === undefined ? undefined : new Date(claims.exp * 1_000).toISOString();
    context.print({ user, server, domain, memberships: roles, expires_at: expires }, () =>
      details([
        ['User', userText(user)],
        ['Service', server],
        ['Domain', domain],
        ['Memberships', roles],
        ['Token', expires && expiryText(expires, context.terminal.now())],
        ['Computation', profile?.computation],
        ['Profile', `${context.profileName}, in ${context.profiles.file}`],
      ]),
    );
  });
}

/**
 * Logs in as the options of `cms login` say, or in the way in which the profile logged in before.
 * @param known the way in which the profile logged in before at the same service
 */
async function loggedIn(context: Context, target: Profile, options: Options, known: Credentials | undefined): Promise<Profile> {
  const { terminal } = context;
  const { clientId, scope, token } = options;
  const issuer = options.issuer === undefined ? undefined : addressOf('--issuer')(options.issuer);
  if (token !== undefined) {
    const trimmed = trimmedToken(token);
    const { exp = Infinity } = claimsOf(trimmed, context.typed);
    if (exp * 1_000 <= terminal.now()) {
      const message = `The token expired ${agoText(new Date(exp * 1_000).toISOString(), terminal.now())}.`;
      throw errorOf('notLoggedIn', message, context.typed);
    }
    return { ...withToken(target, trimmed), credentials: { kind: 'token' } };
  }
  const isLocal = options.local === true || (known?.kind === 'local' && issuer === undefined);
  if (isLocal) {
    const before = known?.kind === 'local' ? known : undefined;
    const user = options.user ?? before?.user ?? terminal.userName;
    if (user === undefined) throw new UsageError('You have no user name on this machine.', `${context.typed} --user USER`);
    const roles = options.role ?? (before?.user === user ? before.roles : ['administrator']);
    return await logInLocally(target, { user, roles }, terminal);
  }
  const before = known?.kind === 'issuer' || known?.kind === 'program' ? known : undefined;
  const [named, client_id] = [issuer ?? before?.issuer, clientId ?? before?.client_id];
  if (named === undefined || client_id === undefined) throw howToLogIn(context, options, (await context.target()).isLocal);
  const at = { issuer: named, client_id, ...given({ scope: scope ?? before?.scope }) };
  const { device, port } = options;
  const isAsBefore = [issuer, device, port].every((option) => option === undefined);
  const isProgram = before?.kind === 'program' && isAsBefore && clientId === undefined;
  if (isProgram || terminal.env['CMS_CLIENT_SECRET']) {
    const program = { kind: 'program', ...at } as const;
    return { ...withToken(target, await tokenOfProgram(program, terminal)), credentials: program };
  }
  const way = isAsBefore && before?.kind === 'issuer' ? before : { device, port };
  const chosen = given({ device: way.device, port: way.port });
  return await logInWithIssuer(target, { kind: 'issuer', ...at, ...chosen }, terminal);
}

function howToLogIn({ typed }: Context, options: Options, isLocal: boolean): CmsError {
  return new UsageError(
    'Choose how to log in: with --issuer for a stage, or with --local for the service that npm start runs.',
    `${typed}${isLocal && options.issuer === undefined ? ` --local${options.user === undefined ? ' --user USER' : ''}` : lackingOptions(options)}`,
  );
}

/** Returns the options that are missing for a login at an issuer, in words. */
function lackingOptions({ issuer, clientId, token }: Options): string {
  if (token !== undefined) return '';
  return `${issuer === undefined ? ' --issuer URL' : ''}${clientId === undefined ? ' --client-id ID' : ''}`;
}

function expiryText(expires: string, now: number): string {
  return `${Date.parse(expires) > now ? 'expires' : 'expired'} ${agoText(expires, now)}`;
}

const rolesIn = ({ access_token, domain }: Profile): string[] =>
  membershipsOf(claimsOf(access_token)).flatMap((each) => (each.startsWith(`${domain}:`) ? [each.slice(domain.length + 1)] : []));

type Issuer = Extract<Credentials, { kind: 'issuer' }>;

/** Logs in at the service of `npm start` on this machine. @throws CmsError if the server is another service; ServiceProblem */
async function logInLocally(
  target: Profile,
  { user, roles }: { user: string; roles: string[] },
  { signal }: Terminal,
): Promise<Profile> {
  const { server, domain } = target;
  const token = await tokenOfLocal(server, domain, { user, roles }, signal).catch((error: unknown) => {
    if (!(error instanceof ServiceProblem)) throw error;
    if (error.code === 'invalid_request') throw wrongMember(error, { user, domain });
    if (error.code !== 'unexpected') throw error;
    throw errorOf(
      'notLoggedIn',
      `${server} is not a service of npm start, so it does not support --local. Log in with its issuer.`,
      `cms login --server ${shellWord(server)} --domain ${shellWord(domain)} --issuer URL --client-id ID`,
      error,
    );
  });
  return { ...withToken(target, token), credentials: { kind: 'local', user, roles } };
}

/** Returns the error of a local login with a wrong user or domain: nothing else that the login sends can be wrong. */
function wrongMember(problem: ServiceProblem, { user, domain }: { user: string; domain: string }): CmsError {
  const ofDomain = v.safeParse(domainId, domain);
  const message = ofDomain.success
    ? `No login as the user ${JSON.stringify(user)}: ${problem.detail.replace(/^[\w./]+: /, '')}`
    : `No login in the domain ${JSON.stringify(domain)}: ${ofDomain.issues[0].message}`;
  return new UsageError(message, undefined, problem);
}

/** Logs a user in with a browser on this machine, or with a code on another device. @throws ServiceProblem */
async function logInWithIssuer(target: Profile, issuer: Issuer, terminal: Terminal): Promise<Profile> {
  const signIn = issuer.device === true ? withDevice : withBrowser;
  const { refresh_token, access_token } = await signIn(issuer, terminal);
  const { refresh_token: _, ...others } = issuer;
  return { ...withToken(target, access_token), credentials: { ...others, ...given({ refresh_token }) } };
}

function withDevice(issuer: Issuer, { err, signal }: Terminal): Promise<TokenSet> {
  return deviceSignIn({
    ...issuerOf(issuer),
    signal,
    show: ({ user_code, verification_uri, verification_uri_complete: complete }) =>
      err(
        complete === undefined
          ? `Open ${printable(verification_uri)} and type the code ${printable(user_code)}\n`
          : `Open ${printable(complete)}\nCheck that it shows the code ${printable(user_code)}\n`,
      ),
  });
}

function withBrowser(issuer: Issuer, { err, openPage, signal }: Terminal): Promise<TokenSet> {
  return loopbackSignIn({
    ...issuerOf(issuer),
    port: issuer.port,
    signal,
    open: (url) => {
      err(`Opening your browser. If it does not open, go to\n  ${url}\n`);
      openPage(url);
    },
  });
}
