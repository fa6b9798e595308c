import { createClient, PathParameterError, ServiceProblem } from 'computation-management-client';
import { CmsError } from './cms-error.ts';
import type { Connection } from './connection.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { explainProblem } from './explain-problem.ts';
import { openProfiles, type Profiles } from './profile/profiles.ts';
import { claimsOf } from './profile/claims.ts';
import { namesApproval } from './missing-items.ts';
import { isLoopback, localServerOf, notLoggedIn, type Target, targetOptions } from './target.ts';
import { tokenOf } from './profile/token.ts';
import { signedComputations } from './signed-computations.ts';
import type { Terminal } from './terminal.ts';
import { isAnswered, type Outages, watchOutages } from './watch/outages.ts';
import { printableLines } from './output/text-width.ts';
import { mistake } from './typed-values.ts';

/** The options that every command takes. */
export interface GlobalOptions {
  json?: boolean;
  server?: string;
  domain?: string;
  profile?: string;
}

/** What a command works with. */
export interface Context {
  terminal: Terminal;
  profiles: Profiles;
  /** Prints a result: as JSON with `--json`, and otherwise as the text. */
  print: (result: unknown, text: () => string) => void;
  /** Prints a hint on standard error. Prints nothing with `--json`. */
  note: (text: string) => void;
  /** Notes when the service stops answering, and when it answers again. */
  outages: Outages;
  isJson: boolean;
  /** The command line as it was typed, to type it again. */
  typed: string;
  /** The command that explains the command. */
  help: string;
  /** Returns a command to type next, such as `cms run c1 --profile bob` for `run c1`: with the options that say where this one works. */
  command: (text: string) => string;
  profileName: string;
  /**
   * What the command works with, from its options, the environment and the profile.
   * @param isLocalLogin whether the service of `npm start` on the port in PORT goes before that of the profile
   */
  target: (isLocalLogin?: boolean) => Promise<Target>;
  connect: () => Promise<Connection>;
  /** A CVM to name in a command to type next: a simulated one of this machine, or a placeholder. */
  exampleCvm: () => Promise<string>;
  /** Sets the exit code of a command that succeeds with bad news. */
  exitWith: (code: ExitCode) => void;
  /** Adds where and as whom a command was carried out to an error. */
  explain: (error: unknown) => Promise<unknown>;
}

export function contextOf(
  options: GlobalOptions,
  terminal: Terminal,
  { typed, help, exitWith }: Pick<Context, 'typed' | 'help' | 'exitWith'>,
): Context {
  const { env } = terminal;
  const profiles = openProfiles(terminal);
  const profileName = options.profile ?? (env['CMS_PROFILE'] || 'default');
  const isJson = options.json === true;
  const note = (text: string) => {
    if (!isJson) terminal.err(printableLines(text));
  };
  const outages = watchOutages(note);
  const localServer = localServerOf(env);
  let latest: Target | undefined;
  const target = async (isLocalLogin = false): Promise<Target> => {
    const profile = await profiles.read(profileName);
    const otherwise = (isLogin: boolean) => env['CMS_SERVER'] || (isLogin && env['PORT'] ? localServer : profile?.server);
    const server = (options.server ?? otherwise(isLocalLogin) ?? localServer).replace(/\/+$/, '');
    const loginServer = server === (otherwise(true) ?? localServer) ? undefined : server;
    const domain = options.domain ?? (env['CMS_DOMAIN'] || profile?.domain);
    latest = { server, domain, profile, isLocal: isLoopback(server), loginServer };
    return latest;
  };
  const command = (text: string) => `cms ${text}${targetOptions(options)}`;
  const connect = async (): Promise<Connection> => {
    const { server, domain, profile, isLocal } = await target();
    const givenToken = env['CMS_TOKEN'];
    if (!givenToken && (!profile || profile.server !== server))
      throw notLoggedIn({ server, isLocal, isDefault: server === localServer, profile, profileName });
    if (domain === undefined)
      throw new CmsError('No domain is chosen.', { next: `${typed} --domain DOMAIN`, exitCode: exitCodes.usage });
    const client = createClient({
      baseUrl: server,
      domain,
      token: givenToken ? givenToken : tokenOf(profiles, profileName, terminal),
      signal: terminal.signal,
      fetch: async (request) => {
        const response = await fetch(request);
        if (isAnswered(response)) outages.ended();
        return response;
      },
      retry: { attempts: 4, onRetry: ({ problem }) => outages.began(problem) },
    });
    const user = givenToken ? claimsOf(givenToken, `env -u CMS_TOKEN ${typed}`).sub : (profile?.user ?? '');
    return { client, server, domain, user, profile };
  };
  return {
    terminal,
    profiles,
    profileName,
    isJson,
    typed,
    help,
    command,
    target,
    exitWith,
    print: (result, text) => terminal.out(isJson ? `${JSON.stringify(result, null, 2)}\n` : printableLines(text())),
    note,
    outages,
    connect,
    exampleCvm: async () => ((await target()).isLocal ? 'sim-1' : 'CVM'),
    explain: async (error) => {
      if (error instanceof PathParameterError) {
        const { parameter, value } = error;
        const detail = `Expected an identifier, not ${JSON.stringify(value)}.`;
        return new CmsError(mistake({ pointer: `path/${parameter}`, detail }, { help }), {
          exitCode: exitCodes.usage,
          cause: error,
        });
      }
      if (!(error instanceof ServiceProblem)) return error;
      const { server, domain, profile, isLocal, loginServer } = latest ?? (await target());
      const token = env['CMS_TOKEN'];
      const computation = computationIn(error.request);
      const isSigned =
        computation !== undefined &&
        error.missing_items !== undefined &&
        namesApproval(error.missing_items) &&
        (await signedComputations(await connect(), [computation], terminal.signal)).has(computation);
      return explainProblem(error, {
        server,
        isLocal,
        loginServer,
        typed,
        help,
        command,
        profileName,
        domain: domain ?? '',
        user: token ? claimsOf(token).sub : (profile?.user ?? 'you'),
        login: token ? 'variable' : profile?.credentials.kind,
        computation,
        isSigned,
      });
    },
  };
}

/** Returns the computation that a request names in its path, such as `/d1/computations/ID` or, of a link, `/d1/assets/ASSET/ID`. */
function computationIn(request: string): string | undefined {
  return /\/(?:computations|assets\/[^/]+)\/([0-9a-f-]{36})(?:\/|$)/.exec(request)?.[1];
}
