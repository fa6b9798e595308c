import * as v from 'valibot';
import { arrayOf, described, namedObject, shownText } from 'computation-management-formats/fields';
import { identifier } from 'computation-management-formats/identifiers';
import {
  errorTable,
  type ErrorCode,
  conflictReasons,
  errorCodes,
  refusalReasons,
  notFound,
  preconditionFailed,
  type ConflictReason,
  type ErrorExtras,
} from '../runtime/errors.ts';
import { takesKey, type Route } from '../http/route.ts';
import { everyResponse, optionalTextHeaders, rateLimitHeaders } from './headers.ts';
import { missingItemsSchema } from '../rows/manifest.ts';
import { type Role, rolesWith } from 'computation-management-formats/vocabulary';
import { forbidden } from '../http/caller.ts';
import { contentTooLarge, inlineLimitInBytes } from '../rows/asset.ts';
import { computationId, digests, manifestDigest, missingItems, runId } from './examples.ts';
import { unknownIn } from '../http/parse.ts';

const everywhere: readonly ErrorCode[] = ['invalid_request', 'too_many_requests', 'internal', 'unavailable'];

/** Returns the error responses of an operation, by status. */
export function failures(route: Route) {
  const when = (holds: boolean, ...codes: ErrorCode[]) => (holds ? codes : []);
  const codes = [
    ...everywhere,
    ...when(route.access !== undefined, 'unauthenticated', 'forbidden'),
    ...(route.errors ?? []),
    ...when(route.path.includes('{id}'), 'not_found'),
    ...when(route.reasons !== undefined, 'conflict'),
    ...when(route.body !== undefined, 'unsupported_media_type', 'too_large'),
    ...when(route.condition === 'if-match', 'precondition_failed'),
    ...when(takesKey(route), 'idempotency_mismatch'),
  ];
  const byStatus = [...Map.groupBy(codes, (code) => errorTable[code].status)];
  return Object.fromEntries(byStatus.map(([status, ofStatus]) => [status, failure(status, ofStatus, route)]));
}

/**
 * Returns the OpenAPI response for the errors that share a status.
 * @param codes the errors that share the status
 */
function failure(status: number, codes: ErrorCode[], route: Route) {
  const problem = {
    schema: { $ref: '#/components/schemas/Problem' },
    examples: Object.assign({}, ...codes.map((code) => problemExamples(code, route))) as Record<string, unknown>,
  };
  const message = codes.flatMap((code) => gatewayMessages[code] ?? [])[0];
  const byGateway = { schema: { $ref: '#/components/schemas/GatewayMessage' }, example: { message } };
  return {
    description: codes.map((code) => summaryOf(code, route)).join(' '),
    headers: {
      ...everyResponse,
      ...retryAfter(status, route),
      ...(status === 401 ? challengeHeader : {}),
      ...(status === 429 ? rateLimitHeaders : {}),
    },
    content: { 'application/problem+json': problem, ...(message === undefined ? {} : { 'application/json': byGateway }) },
  };
}

const challengeHeader = optionalTextHeaders({
  'WWW-Authenticate':
    'What is wrong with the token, such as `Bearer error="invalid_token"`. In responses of functions, API Gateway may rename this ' +
    'header to `x-amzn-remapped-www-authenticate`.',
});

function summaryOf(code: ErrorCode, { reasons = [] }: Route): string {
  const kinds = code === 'conflict' && reasons.length > 0 ? `, ${reasons.map((reason) => `\`${reason}\``).join(', ')}` : '';
  return `${errorTable[code].title} (\`${code}\`${kinds}).`;
}

/**
 * Returns the OpenAPI object of the header Retry-After of an error response with the given status. Functions send the header
 * with 429, 503 and `log_pending`. API Gateway does not send it with its own errors.
 */
function retryAfter(status: number, { reasons = [] }: Route) {
  if (status !== 429 && status !== 503 && !(status === 409 && reasons.includes('log_pending'))) return {};
  return {
    'Retry-After': {
      description:
        'The number of seconds to wait before the next try. Absent if API Gateway itself refuses the request: then wait one second, ' +
        `and double the time after each further ${status}.`,
      required: false,
      schema: { type: 'integer', format: 'int32', minimum: 1, maximum: 3600 },
    },
  };
}

/** Schema of the error that API Gateway answers to a request that does not reach a function. */
const ofGateway = 'An error of API Gateway, for a request that did not reach the service.';
export const gatewayMessageSchema = namedObject('GatewayMessage', ofGateway, {
  message: v.pipe(v.string(), v.description('What went wrong.'), v.metadata({ maxLength: 1_000, examples: ['Unauthorized'] })),
});

const gatewayMessages: Partial<Record<ErrorCode, string>> = {
  unauthenticated: 'Unauthorized',
  too_large: 'Request Entity Too Large',
  too_many_requests: 'Too Many Requests',
  internal: 'Internal Server Error',
  unavailable: 'Service Unavailable',
};

/**
 * Returns the schema of a text in an error response, which shared/http/problem.ts truncates to 1,000 characters and an ellipsis.
 */
const truncatedText = (what: string) => shownText(1_001, what);

const violation = namedObject('Violation', 'An invalid place in a request.', {
  pointer: truncatedText('A JSON Pointer into the body, or a place such as `query/limit`, `path/domainID` or `header/if-match`.'),
  detail: truncatedText('What was expected at this place.'),
});

const currentDigest = (of: string) => v.optional(shownText(64, `The current digest of the ${of} (409 \`stale_digest\`).`));

/** Schema of the errors of the API (RFC 9457). */
export const problemSchema = namedObject('Problem', 'An error (RFC 9457).', {
  type: v.pipe(
    v.string(),
    v.description('The type of the error. `code` distinguishes errors.'),
    v.metadata({ maxLength: 200, format: 'uri-reference', examples: ['about:blank'] }),
  ),
  title: v.pipe(v.string(), v.description('A short name of the error.'), v.metadata({ maxLength: 200 })),
  status: v.pipe(v.number(), v.integer(), v.description('The HTTP status code.'), v.metadata({ minimum: 400, maximum: 599 })),
  detail: truncatedText('A description of the error. The text may change.'),
  code: described(v.picklist(errorCodes), 'The error code for programs. It does not change.'),
  request_id: v.pipe(v.string(), v.description('The identifier of the request.'), v.metadata({ maxLength: 200 })),
  errors: v.optional(arrayOf(violation, 20, 'The places in the request that are invalid (400).')),
  reason: v.optional(
    described(v.picklist([...conflictReasons, ...refusalReasons]), 'The kind of conflict (409), or of refusal (403).'),
  ),
  run_id: v.optional(described(identifier, 'The run that causes the conflict (409).')),
  manifest_digest: currentDigest('manifest'),
  configuration_digest: currentDigest('configuration'),
  missing_items: v.optional(missingItemsSchema),
});

interface Sample {
  detail: string;
  extras?: ErrorExtras;
}

const linkedTo = `Computation ${computationId}, which the asset is linked to,`;

/** Example texts of conflicts (409), by endpoint and reason: not every endpoint has the same words for a reason. */
const conflicts: Partial<Record<string, Partial<Record<ConflictReason, string>>>> = {
  'approvals/approve': {
    stale_digest: 'The manifest or the configuration has another digest now. Read both again.',
    unknown_event: 'The journal of this computation has no event with this id and hash.',
  },
  'assets/delete-asset': {
    asset_in_use: 'An active run uses the asset. Wait until it ends, or stop it.',
    result_of_run: 'The asset is the result of a run and can be deleted after its release.',
  },
  'assets/link-asset': {
    second_algorithm: 'The computation already has an algorithm. Unlink it first.',
    file_name_taken: 'The computation already has a dataset named penguins.csv. Rename or unlink it first.',
    result_of_run: 'The asset is the result of a run and cannot be linked.',
  },
  'assets/set-asset-key': {
    no_checksum:
      'The asset has no checksum, by which the agent verifies the decrypted file. Set it first, or upload the content.',
    no_release_policy:
      'Nothing says which CVMs may get the key. Send a release_policy, or give the computation an attestation_policy, with az-snp-vtpm, snp, snp-vtpm alone.',
    result_of_run: 'The asset is the result of a run and has no key.',
  },
  'assets/update-asset': {
    result_of_run: 'The asset is the result of a run and cannot be changed.',
    second_algorithm: `${linkedTo} already has an algorithm. Unlink it first.`,
    file_name_taken: `${linkedTo} already has a dataset named penguins.csv. Rename or unlink it first.`,
    linked_too_widely:
      'The asset is linked to more than 30 computations, so its file_name and asset_type cannot be changed. Create another asset instead.',
  },
  'computations/delete-computation': { run_active: 'A run is active. Wait until it ends, or stop it.' },
  'cvms/delete-cvm': { cvm_busy: 'A run holds the CVM sim-1. Wait until it ends, or stop it.' },
  'cvms/register-cvm': {
    cvm_busy: 'A run holds the CVM sim-1. Wait until it ends, or stop it.',
    public_key_taken:
      'Another CVM of this domain has a certificate with the same public key. Make a key of its own for each CVM.',
  },
  'evidence/get-evidence': {
    run_active: 'The run is active. Get its evidence after the run has ended.',
    log_pending: 'The start and the end of the run are not in the log yet. Try again in a moment.',
    log_contradicted:
      'The log has another start or end of this run, from before the table was restored. The run has no evidence.',
  },
  'releases/answer-release': { request_over: 'The request was answered before.' },
  'notifications/set-notifications': {
    no_verified_address:
      'Neither the token nor the userinfo of its issuer has a verified `email`. Sign in with the scopes `openid email`.',
  },
  'results/hand-in-result': {
    run_not_completed: 'The run is running. Only a completed run has a result.',
    result_decided: 'A reviewer has decided on the file that was handed in, so no other file can take its place.',
  },
  'results/decide-result': {
    no_result: 'The file with the result has not arrived. A reviewer hands it in first.',
    run_not_completed: 'The run is running. Only a completed run has a result.',
    other_file: `Another file was handed in: its SHA3-256 is ${manifestDigest}. Review that file.`,
    already_decided: 'You have decided on this result. A decision is final.',
    result_decided: 'The result is already released.',
  },
  'results/get-result': {
    no_result: 'The run has no review of its result.',
    result_open: 'The result is neither released nor withheld yet.',
    log_pending: 'The decision on the result is not in the log yet. Try again in a moment.',
    log_contradicted: 'The log has another result of this run, from before the table was restored. The run has no evidence.',
  },
  'runs/start-run': {
    run_active: 'A run of this computation is active. Wait until it ends, or stop it.',
    cvm_busy: 'Another run holds the CVM sim-1. Wait until it ends, or stop it.',
    cvm_not_attested:
      'The CVM sim-1 does not satisfy the attestation policy. It has no attestation of its present agent and certificate.',
    cvm_not_ready: 'The CVM sim-1 is disconnected: it was never seen.',
    no_release_policy:
      'Nothing says which CVMs may get the key of penguins.csv: its creator can set a release_policy, and the computation can have an attestation_policy.',
  },
  'runs/stop-run': { nothing_to_stop: 'No run of this computation is active.' },
};

const conflictExtras: Partial<Record<ConflictReason, ErrorExtras>> = {
  run_active: { run_id: runId },
  cvm_busy: { run_id: runId },
  asset_in_use: { run_id: runId },
  stale_digest: digests,
};

const gatewayOnly = {
  detail:
    'The CVM cvm-1 is registered with a certificate. It gets its commands and reports through the gateway, with that certificate.',
  extras: { reason: 'gateway_only' },
} as const;
const refusals: Partial<Record<string, Sample>> = {
  'logs/read-logs': {
    detail: 'The logs of this run are not shared: its `log_access` is `none`.',
    extras: { reason: 'logs_not_shared' },
  },
  'cvms/list-commands': gatewayOnly,
  'cvms/report': gatewayOnly,
};

/**
 * Returns the OpenAPI examples of an error: one named after the code, or one for each of the endpoint's reasons for a conflict.
 */
export function problemExamples(code: ErrorCode, route: Route) {
  const { status, title } = errorTable[code];
  const example = ({ detail, extras = {} }: Sample) => ({
    value: { type: 'about:blank', title, status, detail, code, request_id: 'JKJaXmPLvHcESHA=', ...extras },
  });
  const { reasons = [] } = route;
  const refusal = code === 'forbidden' ? refusals[route.name] : undefined;
  if (refusal) return { [code]: example(sampleOf(code, route)), [refusal.extras?.reason ?? '']: example(refusal) };
  if (code !== 'conflict' || reasons.length === 0) return { [code]: example(sampleOf(code, route)) };
  return Object.fromEntries(reasons.map((reason) => [reason, example(conflictSample(route, reason))]));
}

function conflictSample({ name }: Route, reason: ConflictReason): Sample {
  const detail = conflicts[name]?.[reason];
  if (detail === undefined) throw new TypeError(`${name} has no example of the conflict ${reason}.`);
  return { detail, extras: { reason, ...conflictExtras[reason] } };
}

function sampleOf(code: ErrorCode, route: Route): Sample {
  switch (code) {
    case 'invalid_request': {
      const pointer = route.body ? '/nmae' : 'query/lmit';
      const detail = route.body ? unknownIn('', route.body) : unknownIn('query', route.query ?? v.object({}));
      return { detail: `${pointer}: ${detail}`, extras: { errors: [{ pointer, detail }] } };
    }
    case 'unauthenticated':
      return { detail: route.access ? ofNobody : 'The nonce was used before. Attest again.' };
    case 'forbidden': {
      const { access } = route;
      if (!access) return { detail: 'No active run of the domain d1 has a key.' };
      const role: Role = rolesWith(...access.anyOf).includes('viewer') ? 'cvm' : 'viewer';
      return { detail: forbidden({ id: 'bob', roles: new Set([role]), actions: new Set() }, access).message };
    }
    case 'incomplete':
      return { detail: 'The computation is not ready to run: something is missing.', extras: { missing_items: missingItems } };
    case 'too_large':
      return { detail: tooLarge[route.name] ?? 'The body has 262145 bytes. The limit is 262144 bytes.' };
    case 'not_found':
      return { detail: route.path.startsWith('/log/') ? 'The log has no such tile.' : notFound(resourceOf(route)).message };
    default:
      return { detail: details[code] ?? `${errorTable[code].title}.` };
  }
}

function resourceOf({ path }: Route): string {
  if (path.includes('/assets/')) return 'asset';
  if (path.includes('/releases/')) return 'request for a key of your assets';
  if (path.includes('/kbs/')) return 'key';
  return path.includes('/cvms/') ? 'registered CVM' : 'computation';
}

/** Example texts of `too_large` (413), by endpoint, where it is not the body that is too large. */
const tooLarge: Partial<Record<string, string>> = {
  'assets/create-asset': contentTooLarge(inlineLimitInBytes + 1).message,
  'assets/update-asset': contentTooLarge(inlineLimitInBytes + 1).message,
  'assets/link-asset': 'A computation can have at most 100 datasets. Unlink one first.',
};

const ofNobody = 'The token names no user. Its claim `sub` must have 1 to 255 bytes of UTF-8 and must not be a reserved name.';

const details: Partial<Record<ErrorCode, string>> = {
  precondition_failed: preconditionFailed().message,
  unsupported_media_type: 'Expected content-type: application/json.',
  idempotency_mismatch: 'The Idempotency-Key was used for another request. Use a new key.',
  internal: 'The service failed. Give the operator the request id.',
  unavailable: 'A dependency of the service is busy or down. Try again in a moment.',
};
