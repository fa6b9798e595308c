import type { ServiceProblem } from 'computation-management-client';
import type { Circumstances, Wording } from './circumstances.ts';
import { CmsError } from './cms-error.ts';
import { exitCodeOf } from './exit-code-of.ts';
import { formatMissing, missingItems } from './missing-items.ts';
import { sentence } from './output/sentence.ts';
import { localLogin, loginAgain } from './profile/login-command.ts';
import { isTyped, mistake, placesOf } from './typed-values.ts';
import { askHealth, noSuchPath, unreachable } from './wrong-address.ts';

/** Explains an error of the service: what happened, and the next command to type. */
export function explainProblem(problem: ServiceProblem, where: Circumstances): CmsError {
  const { message, next } = wording(problem, where);
  const { status, code, detail, reason, run_id, missing_items, errors, requestId } = problem;
  return new CmsError(message, {
    next,
    exitCode: exitCodeOf(problem, where),
    problem: { status, code, detail, reason, run_id, missing_items, errors, request_id: requestId },
    cause: problem,
  });
}

function wording(problem: ServiceProblem, where: Circumstances): Wording {
  const { code, detail } = problem;
  const id = where.computation ?? 'COMPUTATION';
  if (problem.request.includes('://')) return ofIssuer(problem, where);
  switch (code) {
    case 'unreachable':
      return unreachable(problem, where);
    case 'unauthenticated':
      return unauthenticated(detail, where);
    case 'forbidden':
      return forbidden(detail, where);
    case 'not_found':
      return { message: detail, next: where.command(whereToLook(problem, id)) };
    case 'conflict':
      return conflict(problem, id, where);
    case 'precondition_failed':
      return { message: 'The resource has changed since this command read it.', next: where.typed };
    case 'incomplete':
      return {
        message: `The computation is not ready. Missing:\n${problem.missing_items ? formatMissing(missingItems(problem.missing_items, { id, isSigned: where.isSigned ?? false }), where).trimEnd() : detail}`,
        next: where.command(`check ${id}`),
      };
    case 'too_many_requests': // nothing was made
      return { message: forNow('The service takes no more requests now', detail), next: where.typed };
    case 'unavailable': {
      const [, asset] = /^hash of the asset (\S+)$/.exec(problem.request) ?? [];
      if (asset !== undefined) {
        return { message: `${detail} Then type the same again.`, next: where.command(`asset show ${asset}`) };
      }
      return { message: forNow('The service cannot answer now', detail), next: afterFailure(problem, id, where) };
    }
    case 'internal':
    case 'unexpected':
      if (isOfService(problem) && problem.status === 404) return noSuchPath(where);
      return {
        message: problem.requestId === undefined ? detail : `${detail} (request ${problem.requestId})`,
        next: code === 'internal' ? afterFailure(problem, id, where) : afterUnexpected(problem, where),
      };
    case 'invalid_request':
      if (isTyped(problem, where)) {
        return { message: problem.errors.map((error) => mistake(error, where)).join('\n'), next: where.help };
      }
      return { message: [detail, ...placesOf(problem)].join('\n'), next: where.help };
    case 'too_large':
    case 'unsupported_media_type':
    case 'idempotency_mismatch':
    default: // a code that this version does not know
      return { message: [detail, ...placesOf(problem)].join('\n'), next: where.help };
  }
}

function ofIssuer({ code, detail }: ServiceProblem, { login, profileName, typed }: Circumstances): Wording {
  switch (code) {
    case 'unauthenticated':
      return { message: detail, next: typed.startsWith('cms login ') ? typed : loginAgain(profileName, login) };
    case 'unreachable':
    case 'unavailable':
    case 'too_many_requests':
      return { message: `${sentence(detail)} Try again in a minute.`, next: typed };
    default:
      return { message: detail, next: 'cms login --help' };
  }
}

function unauthenticated(detail: string, { server, login, profileName, typed }: Circumstances): Wording {
  if (login !== 'variable') {
    return { message: `${server} does not accept your login: ${detail}`, next: loginAgain(profileName, login) };
  }
  const message = `${server} does not accept the token in CMS_TOKEN: ${sentence(detail)} Set another one, or use your login.`;
  return { message, next: `env -u CMS_TOKEN ${typed}` };
}

/** The service says which roles a request takes, then which ones the caller has. */
const administratorMay = /^Requires [^.]*\badministrator\b|^The token has no role /;

function forbidden(detail: string, { user, domain, isLocal, loginServer, profileName, login, command }: Circumstances): Wording {
  const message = `${user} may not do this in the domain ${domain}: ${detail}`;
  const canLogIn = isLocal && login !== 'variable' && administratorMay.test(detail);
  return {
    message,
    next: canLogIn ? `${localLogin(profileName, { user, domain, loginServer })} --role administrator` : command('whoami'),
  };
}

/** Returns the command that lists what a request may have meant. A link names an asset and a computation; the detail says which is missing. */
function whereToLook({ request, detail }: ServiceProblem, id: string): string {
  if (request.includes('/assets/')) return detail.includes('computation') ? 'computation list' : 'asset list';
  if (request.includes('/cvms/')) return 'cvm list';
  return detail.startsWith('No such run ') ? `runs ${id}` : 'computation list';
}

/**
 * Explains a refusal that passes. The service says in sentences what is wrong, and when to try again. The API gateway before it has only
 * a name for it, such as `Service Unavailable`.
 */
function forNow(what: string, detail: string): string {
  return /[.!?]$/.test(detail) ? detail : `${what} (${detail}). Try again in a minute.`;
}

/**
 * Returns the command that shows whether something was made although the service failed: the same command again may make it twice.
 * Otherwise a repeat does no harm.
 */
function afterFailure({ request }: ServiceProblem, id: string, { typed, command }: Circumstances): string {
  if (/^POST .*\/computations$/.test(request)) return command('computation list');
  return /^POST .*\/run$/.test(request) ? command(`runs ${id}`) : typed;
}

/**
 * Returns the command that shows what answers in place of the service, or the asset whose content is not as expected. Otherwise a
 * repeat may help.
 */
function afterUnexpected(problem: ServiceProblem, { server, typed, command }: Circumstances): string {
  const [, asset] = /^download of the asset (\S+)$/.exec(problem.request) ?? [];
  if (asset !== undefined) return command(`asset show ${asset}`);
  return isOfService(problem) ? askHealth(server) : typed;
}

/** Whether the request went to the service, and not to storage. */
function isOfService({ request }: ServiceProblem): boolean {
  return /^[A-Z]+ \//.test(request);
}

function conflict(
  { detail, reason, run_id, manifest_digest }: ServiceProblem,
  id: string,
  { help, command }: Circumstances,
): Wording {
  switch (reason) {
    case 'run_active':
      return { message: `The run ${run_id ?? ''} of this computation is active.`, next: command(`watch ${id}`) };
    case 'cvm_busy':
      return { message: `${detail}${run_id === undefined ? '' : ` That run is ${run_id}.`}`, next: command('cvm list') };
    case 'cvm_not_ready':
      return { message: detail, next: command('cvm list') };
    case 'stale_digest':
      return {
        message: `The manifest has changed since you read it. Its digest is now ${manifest_digest ?? 'unknown'}. Read it again.`,
        next: command(`manifest ${id}`),
      };
    case 'nothing_to_stop':
      return { message: 'No run of this computation is active.', next: command(`computation show ${id}`) };
    case 'second_algorithm':
    case 'file_name_taken':
      return { message: detail, next: command(`computation show ${id}`) };
    case 'asset_in_use':
      return { message: detail, next: command('runs --status running') };
    case 'linked_too_widely':
    case undefined:
    default: // a reason that this version does not know
      return { message: detail, next: help };
  }
}
