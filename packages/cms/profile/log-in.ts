import { deviceSignIn, ServiceProblem, type TokenSet } from 'computation-management-client';
import { loopbackSignIn } from 'computation-management-client/node';
import { domainId } from 'computation-management-formats/identifiers';
import { printable } from 'computation-management-formats/printable';
import * as v from 'valibot';
import { shellWord } from 'computation-management-words';
import { CmsError, exitCodes, UsageError } from '../terminal/cms-error.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Credentials, Profile } from './profile.ts';
import { issuerOf, tokenOfLocal, tokenOfProgram, withToken } from './token.ts';

type Issuer = Extract<Credentials, { kind: 'issuer' }>;

/** Logs in at the service of `npm start` on this machine. @throws CmsError if the server is another service; ServiceProblem */
export async function logInLocally(
  target: Profile,
  { user, roles }: { user: string; roles: string[] },
  { signal }: Terminal,
): Promise<Profile> {
  const { server, domain } = target;
  const token = await tokenOfLocal(server, domain, { user, roles }, signal).catch((error: unknown) => {
    if (!(error instanceof ServiceProblem)) throw error;
    if (error.code === 'invalid_request') throw wrongMember(error, { user, domain });
    if (error.code !== 'unexpected') throw error;
    throw new CmsError(`${server} is not a service of npm start, so it does not support --local. Log in with its issuer.`, {
      next: `cms login --server ${shellWord(server)} --domain ${shellWord(domain)} --issuer URL --client-id ID`,
      exitCode: exitCodes.notLoggedIn,
      cause: error,
    });
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
export async function logInWithIssuer(target: Profile, issuer: Issuer, terminal: Terminal): Promise<Profile> {
  const signIn = issuer.device === true ? withDevice : withBrowser;
  const { refresh_token, access_token } = await signIn(issuer, terminal);
  const { refresh_token: _, ...others } = issuer;
  return {
    ...withToken(target, access_token),
    credentials: { ...others, ...(refresh_token === undefined ? {} : { refresh_token }) },
  };
}

/** Logs a program in as itself, with the secret in CMS_CLIENT_SECRET. @throws ServiceProblem */
export async function logInProgram(
  target: Profile,
  program: Extract<Credentials, { kind: 'program' }>,
  terminal: Terminal,
): Promise<Profile> {
  return { ...withToken(target, await tokenOfProgram(program, terminal)), credentials: program };
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
