import { type Client, createClient, isLoopback, PathParameterError, ServiceProblem } from 'computation-management-client';
import { explainProblem, mistake } from './explain-problem.ts';
import { namesApproval } from './missing-items.ts';
import { openProfiles, type Profile, type Profiles } from '../profile/profile.ts';
import { claimsOf, tokenOf, trimmedToken } from '../profile/token.ts';
import { addressOf, localServerOf, notLoggedIn, proxyVariable, type Target, targetOptions, useProxies } from './target.ts';
import { CmsError, type ExitCode, UsageError } from '../terminal/cms-error.ts';
import { noting } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { jsonText, printableLines } from '../terminal/text.ts';
import { isAnswered, type Outages, watchOutages } from './outages.ts';

/** The options that every command takes. */
export interface GlobalOptions {
  json?: boolean;
  server?: string;
  domain?: string;
  profile?: string;
}

/** The tools of a command: its terminal, the profiles, and a function that connects to the service. */
export interface Context {
  terminal: Terminal;
  profiles: Profiles;
  /** Prints a result: as JSON with `--json`, and otherwise as the text. */
  print: (result: unknown, text: () => string) => void;
  /** Prints a hint on standard error. Prints nothing with `--json`. */
  note: (text: string) => void;
  /** Notes on standard error what the command waits for: with `--json` as a line of JSON, `{"note": text}`. */
  noteWait: (text: string) => void;
  /** Notes when the service stops answering, and when it answers again. */
  outages: Outages;
  isJson: boolean;
  /**
   * Keeps functions that print what a command names, until its first request that changes something. The requests of a command that only
   * reads call none.
   */
  beforeChange: (() => Promise<void>)[];
  /** The command line as the user typed it, to name it as the command to type next. */
  typed: string;
  /** The command line that prints the help of the running command. */
  help: string;
  /**
   * Returns a command to type next, such as `cms run c1 --profile bob` for `run c1`: with the options that name the service, domain and
   * profile of the running command.
   */
  command: (text: string) => string;
  profileName: string;
  /**
   * Returns the service and the domain that the command works with, from its options, the environment and the profile.
   * @param isLocalLogin whether the service of `npm start` on the port in PORT goes before that of the profile
   */
  target: (isLocalLogin?: boolean) => Promise<Target>;
  /** Connects to the service as the user of the profile or of CMS_TOKEN. @throws CmsError without a login or a domain */
  connect: () => Promise<Session>;
  /** Returns a CVM to name in a command to type next: a simulated one of this machine, or a placeholder. */
  exampleCvm: () => Promise<string>;
  /** Sets the exit code of a command that succeeds with bad news. */
  exitWith: (code: ExitCode) => void;
  /** Turns an error of the service into one for the user, with the command to type next. Returns other errors as they are. */
  explain: (error: unknown) => Promise<unknown>;
}

/** Makes the context of a command from the options of the command. */
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
  const noteWait = (text: string) => terminal.err(isJson ? `${jsonText({ note: text.trimEnd() })}\n` : printableLines(text));
  const outages = watchOutages(noteWait);
  const beforeChange: Context['beforeChange'] = [];
  const localServer = localServerOf(env);
  const givenToken = trimmedToken(env['CMS_TOKEN'] ?? '');
  let latest: Target | undefined;
  const target = async (isLocalLogin = false): Promise<Target> => {
    const profile = await profiles.read(profileName);
    const otherwise = env['CMS_SERVER'] || (isLocalLogin && env['PORT'] ? localServer : profile?.server);
    const server = (options.server ?? otherwise ?? localServer).replace(/\/+$/, '');
    const domain = options.domain ?? (env['CMS_DOMAIN'] || profile?.domain);
    const isLocal = isLoopback(new URL(addressOf('--server, CMS_SERVER or the profile')(server)));
    if (!latest) useProxies(env);
    latest = { server, domain, profile, isLocal };
    return latest;
  };
  const command = (text: string) => `cms ${text}${targetOptions(options)}`;
  const connect = async (): Promise<Session> => {
    const { server, domain, profile, isLocal } = await target();
    if (!givenToken && (!profile || profile.server !== server))
      throw notLoggedIn({ server, isLocal, isDefault: server === localServer, profile, profileName, options });
    if (domain === undefined) throw new UsageError('No domain is chosen.', `${typed} --domain DOMAIN`);
    const client = createClient({
      baseUrl: server,
      domain,
      token: givenToken ? givenToken : tokenOf(profiles, profileName, { env, signal: terminal.signal, noteWait }),
      signal: terminal.signal,
      fetch: async (request) => {
        const { pathname, searchParams } = new URL(request.url);
        if (request.method !== 'GET' && !pathname.endsWith('/dryrun')) await printBefore({ beforeChange });
        const seconds = Number(searchParams.get('wait')); // for which the service answers late as it is asked to
        const response = await noting(outages.waits, 'The service takes long to answer.\n', () => fetch(request), seconds);
        if (isAnswered(response)) outages.ended();
        return response.ok ? await withIdentifiers(response) : response;
      },
      retry: { attempts: 4, onRetry: ({ problem }) => outages.began(problem) },
    });
    const user = givenToken ? claimsOf(givenToken, `env -u CMS_TOKEN ${typed}`).sub : (profile?.user ?? '');
    return { ...context, client, server, domain, user, profile };
  };
  const context: Context = {
    terminal,
    profiles,
    profileName,
    isJson,
    beforeChange,
    typed,
    help,
    command,
    target,
    exitWith,
    print: (result, text) => terminal.out(isJson ? `${jsonText(result, 2)}\n` : printableLines(text())),
    note,
    noteWait,
    outages,
    connect,
    exampleCvm: async () => ((await target()).isLocal ? 'sim-1' : 'CVM'),
    explain: async (error) => {
      if (error instanceof PathParameterError) {
        const { parameter, value } = error;
        const detail = `Expected an identifier, not ${JSON.stringify(value)}.`;
        return new UsageError(mistake({ pointer: `path/${parameter}`, detail }, { help }), undefined, error);
      }
      if (!(error instanceof ServiceProblem)) return error;
      const at = latest ?? (await target());
      // It names the computation in its path, such as `/d1/computations/ID` or, of a link, `/d1/assets/ASSET/ID`.
      const [, computation] = /\/(?:computations|assets\/[^/]+)\/([0-9a-f-]{36})(?:\/|$)/.exec(error.request) ?? [];
      const isSigned =
        computation !== undefined &&
        error.missing_items !== undefined &&
        namesApproval(error.missing_items) &&
        (await isSignedIn(await connect(), computation, terminal.signal));
      return explainProblem(error, {
        ...context,
        ...at,
        domain: at.domain ?? '',
        computation,
        isSigned,
        user: givenToken ? claimsOf(givenToken).sub : at.profile?.user,
        login: givenToken ? 'variable' : at.profile?.credentials.kind,
        proxy: proxyVariable(env),
      });
    },
  };
  return context;
}

/**
 * The pattern of identifiers in answers of the service: the identifiers become parts of commands to type next, and must not look like
 * options.
 */
const identifier = /^(?!-)[\w.:-]{0,64}$/;

/** Returns an answer of the service, or throws an error if an identifier in the answer could be mistaken for an option of a command. */
async function withIdentifiers(response: Response): Promise<Response> {
  const text = await response.clone().text();
  const others: string[] = [];
  try {
    JSON.parse(text, (name, value: unknown) => {
      const identifies = name === '' || name === 'id' || (name.endsWith('_id') && name !== 'key_id'); // a thumbprint: any base64url
      if (identifies && typeof value === 'string' && !identifier.test(value)) others.push(value);
      return value;
    });
  } catch {
    return response; // the client says that it is no JSON
  }
  const detail = "The answer has an identifier that is none, so it is not the service's.";
  return others.length === 0 ? response : Response.json({ code: 'unexpected', detail }, { status: 500 });
}

/** Prints what a command is about to change, once. */
export async function printBefore({ beforeChange }: Pick<Context, 'beforeChange'>): Promise<void> {
  for (const print of beforeChange.splice(0)) await print();
}

/** The tools of a command that is connected to the service as a user in a domain. */
export interface Session extends Context {
  client: Client;
  server: string;
  domain: string;
  user: string;
  profile: Profile | undefined;
}

/** Makes the action of a command from a function whose arguments are the context, then the arguments and the options of the command. */
export type WrapAction = <Given extends unknown[]>(
  action: (context: Context, ...given: Given) => Promise<void>,
) => (...given: Given) => Promise<void>;

/** Asks for confirmation. @throws CmsError if the answer is not yes, or nobody can answer */
export async function confirm({ terminal: { ask }, typed }: Context, question: string): Promise<void> {
  if (!ask) throw new UsageError('Cannot ask for confirmation: this is not a terminal.', `${typed} --yes`);
  const answer = await ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CmsError('Nothing was done.');
}

/** Asks for a value that a command lacks. Returns undefined if nobody can answer, or the answer is empty. */
export async function asked({ terminal: { ask }, isJson }: Context, what: string): Promise<string | undefined> {
  return (isJson ? undefined : (await ask?.(`${what}: `))?.trim()) || undefined;
}

const longestWaitInMilliseconds = 3_000;
const atOnce = 10;

/**
 * Asks the service about each of several computations, ten at once, for at most three seconds and until Ctrl-C. Computations about which
 * nothing was learned by then are missing in the result.
 */
export async function learnOf<Answer>(
  ids: readonly string[],
  interruption: AbortSignal,
  ask: (id: string, signal: AbortSignal) => Promise<Answer>,
): Promise<Map<string, Answer>> {
  const signal = AbortSignal.any([interruption, AbortSignal.timeout(longestWaitInMilliseconds)]);
  const learned = new Map<string, Answer>();
  for (let first = 0; first < ids.length && !signal.aborted; first += atOnce) {
    const group = ids.slice(first, first + atOnce).map((id) => ask(id, signal).then((answer) => learned.set(id, answer)));
    await Promise.allSettled(group);
  }
  return learned;
}

/**
 * Returns whether a computation takes signed approvals alone, so that the command to type next has `--sign`. False if the service does not
 * answer in time.
 */
async function isSignedIn({ client }: Session, computation: string, interruption: AbortSignal): Promise<boolean> {
  const learned = await learnOf([computation], interruption, (id, signal) => client.getComputation({ id, signal }));
  return learned.get(computation)?.approval === 'all_signed';
}
