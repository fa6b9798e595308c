import * as http from 'node:http';
import { lacksTls, type ServiceProblem } from 'computation-management-client';
import {
  describeProblem,
  mayNot,
  type ProblemText,
  sentence,
  shellWord,
  userText,
  waitAMinute,
} from 'computation-management-words';
import { formatMissing, keyFile, missingItems, missingTitle } from './missing-items.ts';
import type { Target } from './target.ts';
import type { Credentials } from '../profile/profile.ts';
import { loginAgain } from '../profile/token.ts';
import { CmsError, type ExitCode, exitCodes } from '../terminal/cms-error.ts';
import { printableTexts } from '../terminal/text.ts';

/** The command line that was typed, and the place and the user as whom it was carried out. */
interface Circumstances extends Pick<Target, 'server' | 'isLocal'> {
  /** The command line as the user typed it. */
  typed: string;
  /** The command line that prints the help of the command. */
  help: string;
  /** Returns a command to type next with the options for the same service, domain and profile. */
  command: (text: string) => string;
  profileName: string;
  domain: string;
  user: string | undefined;
  /** The source of the token that the command sends: the kind of the profile's login, or the variable CMS_TOKEN. */
  login: Credentials['kind'] | 'variable' | undefined;
  /** The identifier of the computation that the request names. */
  computation?: string | undefined;
  /** True if the computation demands signed approvals. */
  isSigned?: boolean;
  /** The environment variable that names a proxy, if one is set. */
  proxy?: string | undefined;
}

/** The explanation of an error in words, and the command to type next. */
interface Wording {
  message: string;
  next?: string;
}

/** Explains an error of the service to the user: what happened, and the command to type next. */
export function explainProblem(given: ServiceProblem, where: Circumstances): CmsError {
  const texts = printableTexts(Object.fromEntries(Object.entries(given).filter(([name]) => name !== 'cause')));
  const problem = Object.assign(Object.create(given) as ServiceProblem, texts);
  const { message, next } = wording(problem, where);
  const { status, code, detail, reason, run_id, missing_items, errors, requestId } = problem;
  return new CmsError(message, {
    next,
    exitCode: exitCodeOf(problem, where),
    problem: { status, code, detail, reason, run_id, missing_items, errors, request_id: requestId },
    cause: given,
  });
}

function wording(problem: ServiceProblem, where: Circumstances): Wording {
  const { code, detail } = problem;
  const { title, advice, points } = describeProblem(problem);
  const id = where.computation ?? 'COMPUTATION';
  if (problem.request.includes('://')) return ofIssuer(problem, where);
  if (problem.status === 431) return { message: detail, next: where.command('whoami') }; // too many memberships
  switch (code) {
    case 'unreachable':
      return unreachable(problem, where);
    case 'unauthenticated':
      return unauthenticated(detail, where);
    case 'forbidden':
      if (problem.reason === 'logs_not_shared') {
        const share = where.command(`computation update ${id} --log-access parties`);
        const message = `${sentence(detail)} The owner can share those of later runs: ${share}. The approvals then become stale.`;
        return { message, next: where.command(`computation show ${id}`) };
      }
      return forbidden(problem, where);
    case 'not_found':
      return { message: detail, next: where.command(whereToLook(problem, id)) };
    case 'conflict': {
      const message = `${detail}${problem.run_id === undefined ? '' : ` That run is ${problem.run_id}.`}`;
      if (problem.reason === 'no_release_policy' && where.help.startsWith('cms asset ')) {
        return { message, next: `${where.typed} --release-policy FILE` };
      }
      if (problem.reason === 'cvm_not_attested' && detail.includes(' is not registered'))
        return { message: `${detail} Check its name.`, next: where.command('cvm list') };
      const next = afterConflict.get(problem.reason)?.(id);
      const choice = problem.reason === 'cvm_not_attested' ? ' Choose another CVM, or have the owner change the policy.' : '';
      return { message: `${sentence(message)}${choice}`, next: next === undefined ? where.help : where.command(next) };
    }
    case 'precondition_failed':
      return { message: `${title}.`, next: where.typed };
    case 'incomplete': {
      if (!problem.missing_items) return { message: `${title}. Missing:\n${detail}`, next: where.command(`check ${id}`) };
      const items = missingItems(problem.missing_items, { id, isSigned: where.isSigned ?? false });
      const message = `${title}. ${missingTitle(items)}\n${formatMissing(items, where).trimEnd()}`;
      return { message, next: where.command(`check ${id}`) };
    }
    case 'too_many_requests': // nothing was made
      return { message: forNow(detail, { title, advice }), next: where.typed };
    case 'unavailable': {
      const [, asset] = /^hash of the asset (\S+)$/.exec(problem.request) ?? [];
      if (asset) return { message: `${detail} Then type the same again.`, next: where.command(`asset show ${asset}`) };
      return { message: forNow(detail, { title, advice }), next: afterFailure(problem, id, where) };
    }
    case 'internal':
    case 'unexpected': {
      if (isOfService(problem) && problem.status === 404) {
        return { message: `${where.server} has no such path. Check the address: ${whence}.`, next: askHealth(where.server) };
      }
      const request = problem.requestId === undefined ? '' : ` (request ${problem.requestId})`;
      return { message: `${detail}${request}`, next: afterFailure(problem, id, where) };
    }
    default: {
      // an invalid request, or a code that this version does not know
      const mistakes = isTyped(problem, where) ? problem.errors.map((error) => mistake(error, where)) : undefined;
      const lines = mistakes ?? [detail, ...points.slice(0, problem.errors.length).map((place) => `  ${place}`)];
      const other = detail.includes('create another computation') ? where.command('computation create NAME') : where.help;
      return { message: lines.join('\n'), next: unsigned(problem, where) ?? other };
    }
  }
}

/** Returns the command that was typed with the option for the private key, if it lacks the option. */
function unsigned({ errors }: ServiceProblem, { typed, help }: Circumstances): string | undefined {
  const option = errors.some(({ pointer }) => pointer === '/signature') ? typedAs('/signature', help) : undefined;
  return option === undefined || typed.includes(` ${option}`) ? undefined : `${typed} ${option} ${keyFile}`;
}

function ofIssuer({ code, detail, request }: ServiceProblem, { login, profileName, typed }: Circumstances): Wording {
  switch (code) {
    case 'unauthenticated':
      return { message: detail, next: typed.startsWith('cms login ') ? typed : loginAgain(profileName, login) };
    case 'unreachable':
    case 'unavailable':
    case 'too_many_requests':
      return { message: `${sentence(detail)} ${waitAMinute}`, next: typed };
    default: {
      const message = `${sentence(detail)} Show this to the operator of the issuer, or name another --issuer.`;
      return { message, next: `curl -i ${shellWord(request.replace(/^[A-Z]+ /, ''))}` };
    }
  }
}

function unauthenticated(detail: string, { server, login, profileName, typed }: Circumstances): Wording {
  if (login !== 'variable') {
    return { message: `${server} does not accept your login: ${detail}`, next: loginAgain(profileName, login) };
  }
  const message = `${server} does not accept the token in CMS_TOKEN: ${sentence(detail)} Set another one, or use your login.`;
  return { message, next: `env -u CMS_TOKEN ${typed}` };
}

/** Explains that the caller may not do something, and whom to ask: who gives roles decides. */
function forbidden({ detail, request }: ServiceProblem, where: Circumstances): Wording {
  const { user, domain, profileName, login, help, computation: id, command } = where;
  const message = `${mayNot(user && userText(user))} in the domain ${domain}: ${detail}`;
  const advised = (advice: string, next: string) => ({ message: `${message} ${advice}`, next: command(next) });
  const spelling = 'Check the name of the domain, or ask an administrator of it for a role.';
  if (detail.startsWith('The token has no role ')) return advised(spelling, 'whoami');
  const [, creator] = /^Only (.*?) gets the content of /.exec(detail) ?? [];
  const compare = `Ask ${creator} for the file, and compare its SHA3-256.`;
  if (creator !== undefined) return advised(compare, `asset show ${request.replace(/.* /, '')}`);
  const none = 'No run needs your approval: nothing is left to do.';
  if (/^cms (approve|refuse) --help Requires being /.test(`${help} ${detail}`)) return advised(none, `approvals ${id}`);
  const [, roles, holder] = required.exec(detail) ?? [];
  if (roles === undefined) return { message, next: command('whoami') };
  const role = roles === 'administrator' ? '' : ` for the role ${roles}`;
  const advice = `Ask ${holder === undefined ? '' : `its ${holder}, or `}an administrator of the domain${role}.`;
  if (id !== undefined || role === '') return advised(advice, id === undefined ? 'whoami' : `computation show ${id}`);
  return { message: `${message} ${advice} Then log in again.`, next: loginAgain(profileName, login) };
}

/** The pattern of the service's sentence about missing roles: the roles beside the administrator, and who needs none. */
const required =
  /^Requires the role (?:administrator(?:, | or )(?!or being))?([^.]*?)(?:, or being (?:the (owner|creator))?[^.]*)?\. /;

/**
 * Returns the command, without `cms`, that lists the things of the kind that a request did not find. A request for a link names an asset
 * and a computation; the detail of the error says which is missing.
 */
function whereToLook({ request, detail }: ServiceProblem, id: string): string {
  if (request.includes('/assets/')) return detail.includes('computation') ? 'computation list' : 'asset list';
  if (request.includes('/cvms/')) return 'cvm list';
  if (detail.startsWith('This computation has no run ')) return `check ${id}`;
  return detail.startsWith('No such run ') ? `runs ${id}` : 'computation list';
}

/**
 * Explains an error that passes by itself. The service explains its error in sentences, with the time to try again, which are used as they
 * are. The API gateway in front of the service only has a name for the error, such as `Service Unavailable`.
 */
function forNow(detail: string, { title, advice }: Pick<ProblemText, 'title' | 'advice'>): string {
  return sentence(detail) === detail ? detail : `${title} (${detail}). ${advice}`;
}

/**
 * Returns the command to type after the service has failed, or something else has answered. If the failed command may have made a computation
 * or a run, it is the command that lists them, because a repeat may make a second one. After an unexpected answer, it is the one that shows
 * what answers in place of the service, or shows the asset whose content is not as expected. Otherwise the same command again.
 */
function afterFailure(problem: ServiceProblem, id: string, { server, typed, command }: Circumstances): string {
  const { code, request } = problem;
  if (code === 'unexpected') {
    const [, asset] = /^download of the asset (\S+)$/.exec(request) ?? [];
    if (asset !== undefined) return command(`asset show ${asset}`);
    return isOfService(problem) ? askHealth(server) : typed;
  }
  if (/^POST .*\/computations$/.test(request)) return command('computation list');
  return /^POST .*\/run$/.test(request) ? command(`runs ${id}`) : typed;
}

/** Returns whether a request went to the service, and not to storage. */
function isOfService({ request }: ServiceProblem): boolean {
  return /^[A-Z]+ \//.test(request);
}

/** The commands, without `cms`, that show or remove what is in the way of a request, by the reason of the conflict. */
const afterConflict = new Map<ServiceProblem['reason'], (id: string) => string>([
  ['run_active', (id) => `watch ${id}`],
  ['cvm_busy', () => 'cvm list'],
  ['cvm_not_ready', () => 'cvm list'],
  ['cvm_not_attested', (id) => `check ${id}`],
  ['stale_digest', (id) => `check ${id}`],
  ['nothing_to_stop', (id) => `computation show ${id}`],
  ['second_algorithm', (id) => `asset unlink ALGORITHM ${id}`],
  ['file_name_taken', (id) => `computation show ${id}`],
  ['already_decided', (id) => `result ${id}`],
  ['asset_in_use', () => 'runs --status running'],
]);

const exitCodeOfProblem = new Map<ServiceProblem['code'], ExitCode>([
  ['unauthenticated', exitCodes.notLoggedIn],
  ['forbidden', exitCodes.forbidden],
  ['not_found', exitCodes.notFound],
  ['conflict', exitCodes.conflict],
  ['precondition_failed', exitCodes.conflict],
  ['incomplete', exitCodes.incomplete],
  ['unreachable', exitCodes.unavailable],
  ['unavailable', exitCodes.unavailable],
  ['too_many_requests', exitCodes.unavailable],
]);

/** Returns the exit code of a command for an error of the service. @param where the command line that prints the help of the command */
function exitCodeOf(problem: ServiceProblem, where: { help: string }): ExitCode {
  if (problem.code === 'invalid_request' && isTyped(problem, where)) return exitCodes.usage;
  return exitCodeOfProblem.get(problem.code) ?? exitCodes.failure;
}

/** The sources of the service's address in words, for messages: `--server, CMS_SERVER or that of the profile`. */
const whence = '--server, CMS_SERVER or that of the profile';

/** Explains that no service answers at the address, or that the one that answers does not speak https. */
function unreachable(problem: ServiceProblem, { server, isLocal, typed, proxy }: Circumstances): Wording {
  if (!lacksTls(problem.cause)) {
    const hint = isLocal || proxy === undefined ? '' : proxyText(proxy);
    const message = `${describeProblem(problem).title} at ${server}.${hint}`;
    return { message, next: isLocal ? startAt(server) : askHealth(server) };
  }
  const message = `${server} does not use https. Check the address: ${whence}.`;
  if (!isLocal) return { message, next: askHealth(server) }; // a token does not go elsewhere without TLS
  const plain = server.replace('https:', 'http:');
  return { message, next: typed.includes(server) ? typed.replace(server, plain) : `${typed} --server ${shellWord(plain)}` };
}

function proxyText(variable: string): string {
  if ('setGlobalProxyFromEnv' in http) return ` Check the proxy in ${variable}.`;
  return ` ${variable} is set, but Node ${process.version} uses no proxies. Node 24.14 or newer does.`;
}

/** Returns the command that shows what answers at the address of the service. */
function askHealth(server: string): string {
  return `curl -i ${shellWord(`${server}/health`)}`;
}

/** Returns the command that starts the service on this machine at a local address. */
function startAt(server: string): string {
  const { port } = new URL(server);
  return ['', '3000'].includes(port) ? 'npm start' : `PORT=${port} npm start`;
}

/** The query parameters and members of bodies (JSON pointers) that the option of the same name sets, such as `--mime-type`, or `--reviewer` for one of a list. */
const namedAlike = [
  ...['query/limit', 'query/offset', 'query/owner', 'query/status', 'query/user', '/agent_url', '/approval', '/certificate'],
  ...['/asset/algo_args', '/asset/checksum', '/asset/decompress', '/asset/description', '/asset/mime_type', '/consumers'],
  ...['/description', '/name', '/owner', '/providers', '/reason', '/result_review/needed', '/result_review/reviewers'],
];

/** The options and arguments of commands whose values the service checks, by the place of the value in the request, such as `query/cvm`. */
const typedAt: Record<string, string> = {
  ...Object.fromEntries(namedAlike.map((place) => [place, `--${place.replace(/.*\/|(?<=[gr])s$/g, '').replace('_', '-')}`])),
  'path/domainID': 'The domain (of --domain, CMS_DOMAIN or the profile)',
  'path/cvmID': 'CVM',
  'path/id': 'ASSET',
  'query/cvm': '--cvm',
  'query/event_type': '--type',
  'query/run_id': '--run',
  '/asset/file_name': '--name',
  '/asset/kbs/url': '--kbs',
  '/asset/source/kbs_resource_path': '--kbs-path',
  '/asset/source/url': 'URL',
  '/cvm_ids': '--cvm',
  '/expires_at': '--expires',
  '/key': 'FILE',
  '/max_runs': '--runs',
  '/signature': '--sign',
};

/**
 * Returns the option or argument of the command that gives the value at a place of a request. For `cms init`, the place itself. Undefined
 * for a value that was not typed.
 */
function typedAs(pointer: string, help: string): string | undefined {
  const place = pointer.replace(/\/\d+$/, '');
  if (help === 'cms init --help' && place.startsWith('/')) return place in typedAt ? pointer : undefined;
  if (help === 'cms computation create --help' && place === '/name') return 'NAME';
  if (help === 'cms review --help' && place === '/signature') return '--key';
  return typedAt[place];
}

/** Returns whether every invalid place of a request was typed on the command line, or is in the file of `cms init`. */
function isTyped({ errors }: ServiceProblem, { help }: { help: string }): boolean {
  return errors.length > 0 && errors.every(({ pointer }) => typedAs(pointer, help) !== undefined);
}

/** Formats an invalid place of a request with its error, named after the option or argument that gave the value. */
export function mistake({ pointer, detail }: ServiceProblem['errors'][number], { help }: { help: string }): string {
  return `${typedAs(pointer, help) ?? pointer}: ${detail}`;
}
