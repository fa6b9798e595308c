import { arrayOf, described, namedObject, shownText } from 'computation-management-formats/fields';
import { identifier } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { errorTable, type ErrorCode, conflictReasons, errorCodes, refusalReasons } from '../runtime/errors.ts';
import { takesKey, type Route } from '../http/route.ts';
import { everyResponse, optionalTextHeaders, rateLimitHeaders } from './headers.ts';
import { problemExamples } from './problem-examples.ts';
import { missingItemsSchema } from '../rows/manifest.ts';

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
