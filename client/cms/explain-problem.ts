import type { ServiceProblem } from '../service-problem.ts';
import { CmsError } from './cms-error.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { formatMissing, missingItems } from './missing-items.ts';

/** Where and as whom the command was carried out. */
export interface Circumstances {
  server: string;
  domain: string;
  user: string;
  isLocal: boolean;
  /** The computation of the command. */
  computation?: string | undefined;
}

/** Explains an error of the service: what happened, and the next command to type. */
export function explainProblem(problem: ServiceProblem, where: Circumstances): CmsError {
  const { message, next } = wording(problem, where);
  const { status, code, detail, reason, run_id, missing_items, errors, requestId } = problem;
  return new CmsError(message, {
    next,
    exitCode: exitCodeOf(problem),
    problem: { status, code, detail, reason, run_id, missing_items, errors, request_id: requestId },
    cause: problem,
  });
}

interface Wording {
  message: string;
  next?: string;
}

function wording(problem: ServiceProblem, where: Circumstances): Wording {
  const { code, detail } = problem;
  const id = where.computation ?? 'COMPUTATION';
  const isOfIssuer = problem.request.includes('://');
  if (isOfIssuer) return { message: detail, next: code === 'unauthenticated' ? 'cms login' : 'cms login --help' };
  switch (code) {
    case 'unreachable':
      return {
        message: `No service answers at ${where.server}.`,
        next: where.isLocal ? 'npm start' : `curl ${where.server}/health`,
      };
    case 'unauthenticated':
      return { message: `${where.server} does not accept your login: ${detail}`, next: login(where) };
    case 'forbidden':
      return forbidden(detail, where);
    case 'not_found':
      return { message: detail, next: 'cms computation list' };
    case 'conflict':
      return conflict(problem, id);
    case 'precondition_failed':
      return { message: `Someone else has changed it meanwhile. ${detail}`, next: 'the same command again' };
    case 'incomplete':
      return {
        message: `The computation is not ready. Missing:\n${problem.missing_items ? formatMissing(missingItems(problem.missing_items, { id }), where.user).trimEnd() : detail}`,
        next: `cms check ${id}`,
      };
    case 'too_many_requests':
    case 'unavailable':
      return { message: `The service is busy or down: ${detail}`, next: 'the same command again, in a minute' };
    case 'internal':
    case 'unexpected':
      return { message: problem.requestId === undefined ? detail : `${detail} (request ${problem.requestId})` };
    case 'invalid_request':
    case 'too_large':
    case 'unsupported_media_type':
    case 'idempotency_mismatch':
      return { message: [detail, ...placesOf(problem)].join('\n') };
  }
}

/** The places of a request that are invalid, unless the detail names them already. */
function placesOf({ detail, errors }: ServiceProblem): string[] {
  return errors.filter((error) => !detail.includes(error.detail)).map((error) => `  ${error.pointer}: ${error.detail}`);
}

function forbidden(detail: string, where: Circumstances): Wording {
  const message = `${where.user} may not do this in the domain ${where.domain}: ${detail}`;
  return { message, next: where.isLocal ? `${login(where)} --role administrator` : 'cms whoami' };
}

function login({ isLocal, user, domain }: Circumstances): string {
  return isLocal ? `cms login --local --user ${user} --domain ${domain}` : 'cms login';
}

function conflict({ detail, reason, run_id, manifest_digest }: ServiceProblem, id: string): Wording {
  switch (reason) {
    case 'run_active':
      return { message: `The run ${run_id ?? ''} of this computation is active.`, next: `cms watch ${id}` };
    case 'cvm_busy':
      return { message: `${detail}${run_id === undefined ? '' : ` It works on the run ${run_id}.`}`, next: 'cms cvm list' };
    case 'cvm_not_ready':
      return { message: detail, next: 'cms cvm list' };
    case 'stale_digest':
      return {
        message: `The manifest has changed meanwhile. Its digest is ${manifest_digest ?? 'another one'} now. Read it again.`,
        next: `cms manifest ${id}`,
      };
    case 'nothing_to_stop':
      return { message: 'No run of this computation is active.', next: `cms computation show ${id}` };
    case 'second_algorithm':
    case 'file_name_taken':
      return { message: detail, next: `cms computation show ${id}` };
    case 'asset_in_use':
    case 'linked_too_widely':
    case undefined:
      return { message: detail };
  }
}

function exitCodeOf({ code }: ServiceProblem): ExitCode {
  switch (code) {
    case 'unauthenticated':
      return exitCodes.notLoggedIn;
    case 'forbidden':
      return exitCodes.forbidden;
    case 'not_found':
      return exitCodes.notFound;
    case 'conflict':
    case 'precondition_failed':
      return exitCodes.conflict;
    case 'incomplete':
      return exitCodes.incomplete;
    case 'unreachable':
    case 'unavailable':
    case 'too_many_requests':
      return exitCodes.unavailable;
    case 'invalid_request':
    case 'too_large':
    case 'unsupported_media_type':
    case 'idempotency_mismatch':
    case 'internal':
    case 'unexpected':
      return exitCodes.failure;
  }
}
